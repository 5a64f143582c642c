package io.mortise.it.processes;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import io.mortise.it.support.Pauses;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The time from a release in one process to the grant in another one, without that in which one of
 * them did not run.
 */
class ReleaseOrderTest {
  private static final int ROUNDS = 30;
  private static final Duration LEASE = Duration.ofSeconds(30);

  /** A poll, or the end of a lease, would take much longer; an idle machine needs a millisecond. */
  private static final long MOST_MILLIS = 50;

  @Test
  @Timeout(60)
  void aWaiterOfAnotherProcessIsWokenByTheRelease() throws Exception {
    List<Long> nanos = new ArrayList<>();
    try (RedisServer server = RedisServer.start();
        LockClient client = LockClient.create(server.uri());
        Pauses pauses = Pauses.record();
        TestThreads threads = new TestThreads()) {
      DistributedLock lock = new RedisLock(client, Names.fresh());
      try (JavaProcess other = LockProcess.start(server.uri(), lock.name(), LEASE)) {
        lock.lock();
        for (int round = 0; round < ROUNDS; round++) {
          long before = attempts(server);
          LockProcess.lock(other);
          awaitAttempt(server, before);
          long released = System.nanoTime();
          lock.unlock();
          nanos.add(running(pauses, other, released, LockProcess.awaitLocked(other).nanos()));

          long there = attempts(server);
          Future<Long> here =
              threads.ask(
                  () -> {
                    lock.lock();
                    long locked = System.nanoTime();
                    lock.unlock();
                    return locked;
                  });
          awaitAttempt(server, there);
          long releasedThere = LockProcess.unlock(other);
          nanos.add(running(pauses, other, releasedThere, here.get(20, TimeUnit.SECONDS)));
          lock.lock();
        }
        lock.unlock();
      }
    }
    Collections.sort(nanos);
    double median = nanos.get(nanos.size() / 2) / 1e6;
    String measured =
        "hand-off between processes: median %.2f ms, 90 %% within %.2f ms, most %.2f ms, of %d"
            .formatted(
                median,
                nanos.get(nanos.size() * 9 / 10) / 1e6,
                nanos.get(nanos.size() - 1) / 1e6,
                nanos.size());
    System.out.println(measured);
    assertTrue(median < MOST_MILLIS, measured);
  }

  private static long running(Pauses here, JavaProcess there, long fromNanos, long toNanos)
      throws InterruptedException {
    long paused =
        here.nanosWithin(fromNanos, toNanos) + LockProcess.pausedNanos(there, fromNanos, toNanos);
    return toNanos - fromNanos - paused;
  }

  /** Waits until the waiter has made an attempt. */
  private static void awaitAttempt(RedisServer server, long before) {
    await().pollInterval(Duration.ofMillis(5)).until(() -> attempts(server) > before);
  }

  private static long attempts(RedisServer server) {
    return server.commandStats().getOrDefault("evalsha", 0L);
  }
}
