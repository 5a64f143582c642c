package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockOptions;
import io.mortise.redlock.RedLock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two of five servers are dead: the other three are a majority, and the lock is as any other. */
@Timeout(60)
class RedLockDeadMinorityTest {
  private static Nodes nodes;

  @BeforeAll
  static void start() {
    nodes =
        Nodes.start(
            5,
            LockOptions.builder()
                .lease(Duration.ofSeconds(10))
                .outageTimeout(Duration.ofMillis(500))
                .build());
    nodes.servers().get(0).kill();
    nodes.servers().get(3).kill();
  }

  @AfterAll
  static void stop() {
    nodes.close();
  }

  @Test
  void whoFindsItHeldIsToldSoAndNotThatServersAreDead() throws InterruptedException {
    RedLock held = nodes.lock("held");
    RedLock other = nodes.otherProcess("held");
    try (Lease lease = held.tryAcquire().orElseThrow()) {
      for (int i = 0; i < 50; i++) {
        assertEquals(Optional.empty(), other.tryAcquire());
      }
      assertEquals(Optional.empty(), other.acquire(Duration.ofMillis(300)));
      assertTrue(lease.isValid());
    }
  }

  @Test
  void whoWaitsForeverWaitsLongerThanItsPatienceWithDeadServers() throws Exception {
    RedLock other = nodes.otherProcess("patient");
    Lease lease = nodes.lock("patient").tryAcquire().orElseThrow();
    CompletableFuture<Void> waiting =
        CompletableFuture.runAsync(
            () -> {
              other.lock();
              other.unlock();
            });
    assertThrows(TimeoutException.class, () -> waiting.get(2, TimeUnit.SECONDS));
    lease.close();
    waiting.get(10, TimeUnit.SECONDS);
  }
}
