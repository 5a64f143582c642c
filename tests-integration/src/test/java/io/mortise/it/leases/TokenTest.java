package io.mortise.it.leases;

import static io.mortise.it.support.SharedRedis.freshName;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.SharedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pitfalls 17 and 18: fencing tokens increase from hold to hold, whatever happens to Redis. */
@Timeout(60)
class TokenTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private final String name = freshName();
  private final String tokenKey = "redisson_lock_token:{" + name + "}";
  private LockClient client;
  private LockClient other;

  @BeforeEach
  void open() {
    client = redis.client();
    other = redis.client();
  }

  @AfterEach
  void close() {
    client.close();
    other.close();
  }

  private long token(LockClient by) throws InterruptedException {
    try (Lease lease = new RedisLock(by, name).acquire(Duration.ofSeconds(20)).orElseThrow()) {
      return lease.fencingToken();
    }
  }

  private void assertLargerAfter(Runnable loss) throws InterruptedException {
    long before = token(client);
    loss.run();
    long after = token(other);
    assertTrue(after > before, () -> before + " is followed by " + after);
  }

  @Test
  void increaseFromHolderToHolder() throws Exception {
    List<AsyncCall<List<Long>>> callers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      LockClient by = i % 2 == 0 ? client : other;
      callers.add(
          AsyncCall.start(
              () -> {
                List<Long> tokens = new ArrayList<>();
                for (int j = 0; j < 50; j++) {
                  tokens.add(token(by));
                }
                return tokens;
              }));
    }
    List<Long> all = new ArrayList<>();
    for (AsyncCall<List<Long>> caller : callers) {
      List<Long> tokens = caller.get();
      assertEquals(tokens.stream().sorted().toList(), tokens);
      all.addAll(tokens);
    }
    assertEquals(all.size(), all.stream().distinct().count());
  }

  @Test
  void increaseWhenTheKeyIsDeleted() throws Exception {
    assertLargerAfter(() -> redis.server().command("DEL", tokenKey));
  }

  @Test
  void increaseWhenAllDataIsFlushed() throws Exception {
    assertLargerAfter(() -> redis.server().command("FLUSHALL"));
  }

  @Test
  void increaseWhenTheServerRestartsEmpty() throws Exception {
    assertLargerAfter(
        () -> {
          redis.server().kill();
          redis.server().restart();
        });
  }

  @Test
  void increaseWhenAFailoverLostTheLastOnes() throws Exception {
    long first = token(client);
    token(client);
    assertLargerAfter(() -> redis.server().command("SET", tokenKey, Long.toString(first)));
  }

  @Test
  void increaseThoughTheClockOfTheServerIsFarBehindTheLastOne() throws Exception {
    long ahead = token(client) + 3_600_000_000L;
    redis.server().command("SET", tokenKey, Long.toString(ahead));
    assertEquals(ahead + 1, token(client));
    assertEquals(ahead + 2, token(other));
  }

  @Test
  void theKeyIsGoneSomeTimeAfterTheLastAcquisition() throws Exception {
    token(client);
    long life = redis.ttlMillis(tokenKey);
    long idle = client.options().tokenRetention().toMillis();
    assertTrue(life > idle - 10_000 && life <= idle, () -> "it lives for " + life + " ms");
  }

  @Test
  void isTheSameOverReentryAndRenewal() {
    RedisLock lock = new RedisLock(client, name);
    lock.lock();
    try {
      long token = lock.lease().fencingToken();
      lock.lock();
      try {
        assertEquals(token, lock.lease().fencingToken());
      } finally {
        lock.unlock();
      }
      assertEquals(Long.toString(token), redis.server().command("GET", tokenKey));
    } finally {
      lock.unlock();
    }
  }
}
