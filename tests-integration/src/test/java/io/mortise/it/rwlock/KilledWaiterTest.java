package io.mortise.it.rwlock;

import static io.mortise.it.rwlock.TwoClients.SLACK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.JavaProcess;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whoever died while it waited is waited for no longer than its presence lasts. */
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
@Timeout(60)
class KilledWaiterTest {
  private static final Duration LEASE = Duration.ofMillis(1500);
  private static TwoClients rig;

  private final String name = TwoClients.freshName();
  private final StepThread hand = new StepThread();

  @BeforeAll
  static void start() {
    rig = new TwoClients(Duration.ofSeconds(30), TwoClients.SHORT_PRESENCE);
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  @AfterEach
  void dismiss() {
    hand.close();
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void aKilledWriterDelaysReadersByItsPresenceAtMost(boolean fair) throws Exception {
    RedisReadWriteLock lock = rig.here(name, fair);
    Lease reader = lock.readLock().tryAcquire().orElseThrow();
    try (JavaProcess child = ReadersProcess.start(rig, name, fair, LEASE, 1)) {
      child.send("write");
      rig.awaitWaiters(name, 1);
      Future<?> second = hand.begin(() -> rig.there(name, fair).readLock().lock());
      rig.awaitWaiters(name, 2);
      child.kill();
      long killed = System.nanoTime();
      StepThread.result(second);
      long waited = (System.nanoTime() - killed) / 1_000_000;
      System.out.printf(
          "fair %s: a reader is in %d ms after the writer that waited was killed%n", fair, waited);
      assertTrue(waited <= rig.presence.plus(SLACK).toMillis(), () -> waited + " ms");
      hand.run(() -> rig.there(name, fair).readLock().unlock());
      reader.close();
    }
    assertEquals(List.of(), rig.keys(name));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void killedReadersDelayAWriterByTheirPresenceAtMost(boolean fair) throws Exception {
    RedisReadWriteLock lock = rig.here(name, fair);
    Lease writer = lock.writeLock().tryAcquire().orElseThrow();
    try (JavaProcess child = ReadersProcess.start(rig, name, fair, LEASE, 3)) {
      child.send("read");
      rig.awaitWaiters(name, 3);
      Future<?> second = hand.begin(() -> rig.there(name, fair).writeLock().lock());
      rig.awaitWaiters(name, 4);
      child.kill();
      long killed = System.nanoTime();
      writer.close();
      StepThread.result(second);
      long waited = (System.nanoTime() - killed) / 1_000_000;
      System.out.printf(
          "fair %s: a writer is in %d ms after 3 readers that waited were killed%n", fair, waited);
      assertTrue(waited <= rig.presence.plus(SLACK).toMillis(), () -> waited + " ms");
      hand.run(() -> rig.there(name, fair).writeLock().unlock());
    }
    assertEquals(List.of(), rig.keys(name));
  }
}
