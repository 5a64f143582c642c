package io.mortise.core.internal.acquire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.Lease;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.composite.LeaseGroup;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.scripts.Script;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * When the epoch changes between request and grant, the attempt is repeated. The first grant had a
 * reply, so one release ends both.
 */
@Timeout(60)
class RepeatedGrantTest {
  private static final String GRANTED = RespServer.integers(List.of(1L, 42L, 0L));
  private static final String RELEASED = RespServer.integers(List.of(1L, 0L));

  private final AtomicInteger attempts = new AtomicInteger();
  private final RespServer server = new RespServer(this::answer);
  private final RedisLockClient client = TestClients.of(server, LockOptions.defaults());

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private String answer(List<String> command) {
    if (is(command, "lock/release")) {
      return RELEASED;
    }
    if (attempts.getAndIncrement() == 0) {
      client.context().lease().holds().endEpoch();
    }
    return GRANTED;
  }

  private static boolean is(List<String> command, String script) {
    return command.get(1).equals(new String(Script.load(script).sha1(), UTF_8));
  }

  private void assertReleased(int times) {
    assertEquals(2, attempts.get());
    await().atMost(BackgroundCall.LIVENESS).until(() -> client.status().pendingReleases() == 0);
    assertEquals(
        times, server.heard().stream().filter(command -> is(command, "lock/release")).count());
  }

  @Test
  void aLockIsReleasedOnce() {
    Lease lease = new RedisLock(client, "orders").tryAcquire().orElseThrow();
    lease.close();

    assertReleased(1);
  }

  @Test
  void eachLockOfAGroupIsReleasedOnce() throws Exception {
    List<LeaseSource> sources =
        List.of(
            LeaseBackedLock.sourceOf(new RedisLock(client, "orders")),
            LeaseBackedLock.sourceOf(new RedisLock(client, "invoices")));
    LeaseTerms terms = LeaseTerms.of(client.options(), Duration.ZERO, null, true);
    GroupAttemptResult.Acquired acquired =
        (GroupAttemptResult.Acquired) sources.get(0).acquireTogether(sources, terms, null);
    assertEquals(List.of(), LeaseGroup.release(acquired.leases()));

    assertReleased(2);
  }
}
