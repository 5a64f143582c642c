package io.mortise.it.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.spi.LockName;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code RFencedLock} counts the same token; Redisson 3.16 has none. */
@ParameterizedClass(name = "Redisson {0}")
@EnumSource(value = RedissonVersion.class, mode = EnumSource.Mode.EXCLUDE, names = "REDISSON_3_16")
@Timeout(60)
@Execution(ExecutionMode.CONCURRENT)
class FencedLockVersionsTest {
  private static final Duration RETENTION = Duration.ofSeconds(3);

  @RegisterExtension static final VersionedPeers peers = new VersionedPeers();

  private final RedissonPeer redisson;
  private final String name = Names.fresh();
  private final String key = new LockName(name).tokenKey();

  @AutoClose
  private final LockClient client =
      peers.client(LockOptions.builder().tuning(t -> t.tokenRetention(RETENTION)).build());

  FencedLockVersionsTest(RedissonVersion version) {
    redisson = peers.of(version);
  }

  private long theirToken() {
    return redisson.fencingToken(name);
  }

  private long ourToken() {
    try (Lease lease = new RedisLock(client, name).tryAcquire().orElseThrow()) {
      return lease.fencingToken();
    }
  }

  @Test
  void tokensOfBothIncreaseForEverWhenRedissonMadeTheKey() {
    long last = theirToken();
    assertEquals(1, last);
    for (int i = 0; i < 5; i++) {
      long ours = ourToken();
      assertTrue(ours > last, () -> "ours: " + ours);
      last = theirToken();
      assertEquals(ours + 1, last);
    }
    assertEquals(-1, peers.pttl(key), "the key of Redisson has no end");
  }

  /** The limit that {@code docs/wire.md} describes. */
  @Test
  void theirTokensBeginAgainAtOneWhenTheKeyThatMortiseMadeHasEnded() {
    long start = System.nanoTime(); // the life of the key begins after it
    long[] last = {ourToken()};
    Eventually.until(
        "Redisson's token is 1",
        () -> {
          long token = theirToken();
          assertTrue(token == 1 || token == last[0] + 1, () -> token + " after " + last[0]);
          last[0] = token;
          return token == 1;
        });
    assertTrue(System.nanoTime() - start >= RETENTION.toNanos(), "it has ended early");
  }

  /** The remedy that {@code docs/wire.md} names. */
  @Test
  void aPersistedKeyNeverEnds() {
    long first = ourToken();
    assertEquals(1L, peers.server().command("PERSIST", key));
    assertEquals(first + 1, theirToken());
    assertTrue(ourToken() > first + 1);
    assertEquals(-1, peers.pttl(key));
  }
}
