package io.mortise.it.rwlock;

import static io.mortise.it.rwlock.ReadWriteFixture.SLACK;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.spi.LockName;
import io.mortise.it.support.TwoClients;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.JavaProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Clients of one fair read-write lock with a short waiter timeout, and with a long one. */
@Timeout(60)
class MixedTimeoutsTest {
  private static final Duration SHORT = Duration.ofSeconds(3);
  private static final Duration LONG = Duration.ofSeconds(8);

  @RegisterExtension
  static final TwoClients clients = ReadWriteFixture.clients(Duration.ofSeconds(30));

  @RegisterExtension final ReadWriteFixture locks = new ReadWriteFixture(clients, LONG);

  private final String deadlines = new LockName(locks.name).derive("redisson_lock_timeout");
  private final List<String> entered = new CopyOnWriteArrayList<>();
  private final List<Future<?>> ends = new ArrayList<>();

  private RedisReadWriteLock lock(LockClient client, Duration waiterTimeout) {
    return RedisReadWriteLock.fair(client, locks.name, waiterTimeout);
  }

  /** A waiter joins the queue; when it is granted the lock, it records that and releases. */
  private void queue(String who, DistributedLock side) {
    long before = locks.waiters();
    ends.add(
        locks
            .thread()
            .begin(
                () -> {
                  side.lock();
                  entered.add(who);
                  side.unlock();
                }));
    locks.awaitWaiters(before + 1);
  }

  private void awaitEntered() throws Exception {
    for (Future<?> end : ends) {
      StepThread.result(end);
    }
  }

  /** Returns the time to the earliest deadline in the queue. */
  private long leastMillis() {
    List<?> first = (List<?>) locks.server().command("ZRANGE", deadlines, "0", "0", "WITHSCORES");
    List<?> time = (List<?>) locks.server().command("TIME");
    return (long) Double.parseDouble((String) first.get(1))
        - Long.parseLong((String) time.get(0)) * 1_000
        - Long.parseLong((String) time.get(1)) / 1_000;
  }

  @Test
  void waitersWithShortAndLongTimeoutsKeepTheirPlacesWhileTheyLive() throws Exception {
    DistributedLock first = lock(clients.here(), LONG).writeLock();
    first.lock();
    queue("long 1", lock(clients.here(), LONG).writeLock());
    queue("short 1", lock(clients.there(), SHORT).readLock());
    queue("long 2", lock(clients.here(), LONG).writeLock());
    queue("short 2", lock(clients.there(), SHORT).writeLock());
    queue("long 3", lock(clients.here(), LONG).readLock());

    Duration longer = SHORT.multipliedBy(3).dividedBy(2);
    await()
        .pollInterval(Duration.ofMillis(20))
        .atMost(longer.plus(SLACK))
        .during(longer)
        .until(() -> locks.waiters() == 5);
    assertTrue(leastMillis() < SHORT.toMillis(), "a short timeout is a deadline of its own");
    first.unlock();
    awaitEntered();

    assertEquals(List.of("long 1", "short 1", "long 2", "short 2", "long 3"), entered);
  }

  @Test
  void aKilledWaiterDelaysTheOthersByItsTimeoutAndAQuarterOfTheirs() throws Exception {
    DistributedLock first = lock(clients.here(), LONG).writeLock();
    first.lock();
    queue("long 1", lock(clients.here(), LONG).writeLock());
    try (JavaProcess child = ReadersProcess.start(locks, true, Duration.ofSeconds(30), 1, SHORT)) {
      child.send("write");
      locks.awaitWaiters(2);
      queue("long 2", lock(clients.there(), LONG).readLock());
      queue("long 3", lock(clients.here(), LONG).writeLock());
      await()
          .atMost(SLACK)
          .until(() -> leastMillis() < SHORT.toMillis()); // it has sent a heartbeat
      child.kill();
    }
    long killed = System.nanoTime();

    first.unlock();
    awaitEntered();

    long waited = (System.nanoTime() - killed) / 1_000_000;
    long most = SHORT.plus(LONG.dividedBy(4)).plus(SLACK).toMillis();
    assertTrue(waited <= most, () -> waited + " ms, and the lease is 30 s");
    assertEquals(List.of("long 1", "long 2", "long 3"), entered);
  }
}
