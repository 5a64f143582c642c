package io.mortise.it.rwlock;

import static io.mortise.it.rwlock.ReadWriteFixture.SLACK;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.it.support.TwoClients;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.JavaProcess;
import java.time.Duration;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A waiter that was killed delays others for at most its waiter timeout. */
@Timeout(60)
class KilledWaiterTest {
  @RegisterExtension
  static final TwoClients clients = ReadWriteFixture.clients(Duration.ofSeconds(30));

  @RegisterExtension
  final ReadWriteFixture locks = new ReadWriteFixture(clients, ReadWriteFixture.SHORT_TIMEOUT);

  private final StepThread thread = locks.thread();

  @FairAndUnfair
  void aKilledWriterDelaysReadersByAtMostItsWaiterTimeout(boolean fair) throws Exception {
    RedisReadWriteLock lock = locks.here(fair);
    Lease reader = lock.readLock().tryAcquire().orElseThrow();
    try (JavaProcess child = ReadersProcess.start(locks, fair, 1)) {
      child.send("write");
      locks.awaitWaiters(1);
      Future<?> second = thread.begin(() -> locks.there(fair).readLock().lock());
      locks.awaitWaiters(2);
      child.kill();
      long killed = System.nanoTime();
      StepThread.result(second);
      long waited = (System.nanoTime() - killed) / 1_000_000;
      System.out.printf(
          "fair %s: a reader enters %d ms after the waiting writer was killed%n", fair, waited);
      assertTrue(waited <= locks.waiterTimeout.plus(SLACK).toMillis(), () -> waited + " ms");
      thread.run(() -> locks.there(fair).readLock().unlock());
      reader.close();
    }
  }

  @FairAndUnfair
  void killedReadersDelayAWriterByAtMostTheirWaiterTimeout(boolean fair) throws Exception {
    RedisReadWriteLock lock = locks.here(fair);
    Lease writer = lock.writeLock().tryAcquire().orElseThrow();
    try (JavaProcess child = ReadersProcess.start(locks, fair, 3)) {
      child.send("read");
      locks.awaitWaiters(3);
      Future<?> second = thread.begin(() -> locks.there(fair).writeLock().lock());
      locks.awaitWaiters(4);
      child.kill();
      long killed = System.nanoTime();
      writer.close();
      StepThread.result(second);
      long waited = (System.nanoTime() - killed) / 1_000_000;
      System.out.printf(
          "fair %s: a writer enters %d ms after 3 waiting readers were killed%n", fair, waited);
      assertTrue(waited <= locks.waiterTimeout.plus(SLACK).toMillis(), () -> waited + " ms");
      thread.run(() -> locks.there(fair).writeLock().unlock());
    }
  }
}
