package io.mortise.it.rwlock;

import static io.mortise.it.rwlock.ReadWriteFixture.SLACK;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.it.support.TwoClients;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.JavaProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Readers and writers in other processes: woken together, and killed. */
@Timeout(60)
class ProcessesTest {
  private static final Duration LEASE = ReadersProcess.LEASE;

  /** No hold ends by itself. */
  private static final Duration LONG_LEASE = Duration.ofSeconds(30);

  @RegisterExtension
  static final TwoClients clients = ReadWriteFixture.clients(Duration.ofSeconds(30));

  @RegisterExtension
  final ReadWriteFixture locks = new ReadWriteFixture(clients, ReadWriteFixture.NO_HEARTBEAT);

  private final StepThread thread = locks.thread();

  @FairAndUnfair
  void allWaitingReadersOfAllProcessesEnterTogetherAfterAWriteRelease(boolean fair)
      throws Exception {
    int threads = 20;
    RedisReadWriteLock lock = locks.here(fair);
    List<JavaProcess> children = new ArrayList<>();
    try {
      for (int i = 0; i < 3; i++) {
        children.add(ReadersProcess.start(locks, fair, LONG_LEASE, threads, locks.waiterTimeout));
      }
      for (int round = 0; round < 3; round++) {
        lock.writeLock().lock();
        for (JavaProcess child : children) {
          child.send("read");
        }
        locks.awaitWaiters(3L * threads);
        long released = System.nanoTime();
        lock.writeLock().unlock();
        long last = 0;
        for (JavaProcess child : children) {
          for (int i = 0; i < threads; i++) {
            last = Math.max(last, ReadersProcess.awaitIn(child) - released);
          }
        }
        System.out.printf(
            "fair %s: 60 readers of 3 processes enter %.1f ms after the write release%n",
            fair, last / 1e6);
        assertTrue(last < SLACK.toNanos());
        assertEquals(3L * threads + 1, locks.number("HLEN", locks.name), "together");
        for (JavaProcess child : children) {
          child.send("unlock");
        }
      }
      assertTrue(lock.writeLock().tryLock(SLACK));
      lock.writeLock().unlock();
    } finally {
      children.forEach(JavaProcess::close);
    }
  }

  @FairAndUnfair
  void aKilledReaderDelaysAWriterByItsOwnLeaseAlthoughAnotherReaderHasALongerOne(boolean fair)
      throws Exception {
    Duration lease = Duration.ofSeconds(3); // the writer is asked before the rest of it is over
    RedisReadWriteLock lock = locks.here(fair);
    Lease other = lock.readLock().withLease(Duration.ofMinutes(1)).tryAcquire().orElseThrow();
    try (JavaProcess child = ReadersProcess.start(locks, fair, lease, 1, locks.waiterTimeout)) {
      child.send("read");
      ReadersProcess.awaitIn(child);
      Future<Long> writer =
          thread.start(
              () -> {
                locks.there(fair).writeLock().lock();
                return System.nanoTime();
              });
      locks.awaitWaiters(1);
      child.kill();
      long killed = System.nanoTime(); // before the question: a late answer makes the wait longer
      long leftMillis = 0;
      for (String key : locks.leaseKeys()) {
        long left = locks.millisLeft(key);
        leftMillis = left < lease.toMillis() + 1 ? left : leftMillis;
      }
      other.close();
      assertFalse(writer.isDone(), "the reader may be alive until its lease expires");
      long waited = (StepThread.result(writer) - killed) / 1_000_000;
      System.out.printf(
          "fair %s: a writer enters after %d ms; the killed reader had %d ms left%n",
          fair, waited, leftMillis);
      assertTrue(leftMillis > 0 && waited >= leftMillis - 10, () -> waited + " ms");
      assertTrue(waited <= lease.plus(SLACK).toMillis(), () -> waited + " ms");
      thread.run(() -> locks.there(fair).writeLock().unlock());
    }
  }

  @FairAndUnfair
  void aKilledReaderWhoseLeaseHasExpiredDelaysNobodyWhenTheOtherReadersLeave(boolean fair)
      throws Exception {
    RedisReadWriteLock lock = locks.here(fair);
    Lease other = lock.readLock().tryAcquire().orElseThrow();
    try (JavaProcess child = ReadersProcess.start(locks, fair, 1)) {
      child.send("read");
      ReadersProcess.awaitIn(child);
      child.kill();
      await().atMost(LEASE.plus(SLACK)).until(() -> locks.leaseKeys().size() == 1);
      Future<?> writer = thread.begin(() -> locks.there(fair).writeLock().lock());
      locks.awaitWaiters(1);
      long start = System.nanoTime();
      other.close();
      StepThread.result(writer);
      long waited = (System.nanoTime() - start) / 1_000_000;
      System.out.printf(
          "fair %s: a writer enters %d ms after the last living reader left%n", fair, waited);
      assertTrue(waited < SLACK.toMillis());
      thread.run(() -> locks.there(fair).writeLock().unlock());
    }
  }
}
