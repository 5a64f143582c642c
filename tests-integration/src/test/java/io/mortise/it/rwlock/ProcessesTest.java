package io.mortise.it.rwlock;

import static io.mortise.it.rwlock.TwoClients.SLACK;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.JavaProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Readers and writers in other processes: woken together, and killed. */
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
@Timeout(60)
class ProcessesTest {
  private static final Duration LEASE = Duration.ofMillis(1500);
  private static TwoClients rig;

  private final String name = TwoClients.freshName();
  private final StepThread hand = new StepThread();

  @BeforeAll
  static void start() {
    rig = new TwoClients(Duration.ofSeconds(30), TwoClients.NO_SIGNS);
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
  void allWaitingReadersOfAllProcessesAreInTogetherAfterAWriteRelease(boolean fair)
      throws Exception {
    int threads = 20;
    RedisReadWriteLock lock = rig.here(name, fair);
    List<JavaProcess> children = new ArrayList<>();
    try {
      for (int i = 0; i < 3; i++) {
        children.add(ReadersProcess.start(rig, name, fair, LEASE, threads));
      }
      for (int round = 0; round < 3; round++) {
        lock.writeLock().lock();
        for (JavaProcess child : children) {
          child.send("read");
        }
        rig.awaitWaiters(name, 3L * threads);
        long released = System.nanoTime();
        lock.writeLock().unlock();
        long last = 0;
        for (JavaProcess child : children) {
          for (int i = 0; i < threads; i++) {
            last = Math.max(last, ReadersProcess.awaitIn(child) - released);
          }
        }
        System.out.printf(
            "fair %s: 60 readers of 3 processes are in %.1f ms after the write release%n",
            fair, last / 1e6);
        assertTrue(last < SLACK.toNanos());
        assertEquals(3L * threads + 1, rig.number("HLEN", name), "together");
        for (JavaProcess child : children) {
          child.send("unlock");
        }
      }
      assertTrue(lock.writeLock().tryLock(SLACK));
      lock.writeLock().unlock();
    } finally {
      children.forEach(JavaProcess::close);
    }
    assertEquals(List.of(), rig.keys(name));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void aKilledReaderDelaysAWriterByItsOwnLeaseAlthoughAnotherHasALongerOne(boolean fair)
      throws Exception {
    RedisReadWriteLock lock = rig.here(name, fair);
    Lease other = lock.readLock().tryAcquire(Duration.ofMinutes(1)).orElseThrow();
    try (JavaProcess child = ReadersProcess.start(rig, name, fair, LEASE, 1)) {
      child.send("read");
      ReadersProcess.awaitIn(child);
      Future<Long> writer =
          hand.start(
              () -> {
                rig.there(name, fair).writeLock().lock();
                return System.nanoTime();
              });
      rig.awaitWaiters(name, 1);
      child.kill();
      long leftMillis = 0;
      for (Object key : (List<?>) rig.server.command("KEYS", "{" + name + "}:*:rwlock*")) {
        long left = rig.millisLeft((String) key);
        leftMillis = left < LEASE.toMillis() + 1 ? left : leftMillis;
      }
      long killed = System.nanoTime();
      other.close();
      assertFalse(writer.isDone(), "it may live as long as its lease lasts");
      long waited = (StepThread.result(writer) - killed) / 1_000_000;
      System.out.printf(
          "fair %s: a writer is in after %d ms; the killed reader had %d ms left%n",
          fair, waited, leftMillis);
      assertTrue(leftMillis > 0 && waited >= leftMillis - 10, () -> waited + " ms");
      assertTrue(waited <= LEASE.plus(SLACK).toMillis(), () -> waited + " ms");
      hand.run(() -> rig.there(name, fair).writeLock().unlock());
    }
    assertEquals(List.of(), rig.keys(name));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void aKilledReaderWhoseLeaseIsOverDelaysNobodyWhenTheOthersGo(boolean fair) throws Exception {
    RedisReadWriteLock lock = rig.here(name, fair);
    Lease other = lock.readLock().tryAcquire().orElseThrow();
    try (JavaProcess child = ReadersProcess.start(rig, name, fair, LEASE, 1)) {
      child.send("read");
      ReadersProcess.awaitIn(child);
      child.kill();
      await()
          .atMost(LEASE.plus(SLACK))
          .until(() -> ((List<?>) rig.server.command("KEYS", "{" + name + "}:*:rw*")).size() == 1);
      Future<?> writer = hand.begin(() -> rig.there(name, fair).writeLock().lock());
      rig.awaitWaiters(name, 1);
      long start = System.nanoTime();
      other.close();
      StepThread.result(writer);
      long waited = (System.nanoTime() - start) / 1_000_000;
      System.out.printf("fair %s: a writer is in %d ms after the last living one%n", fair, waited);
      assertTrue(waited < SLACK.toMillis());
      hand.run(() -> rig.there(name, fair).writeLock().unlock());
    }
    assertEquals(List.of(), rig.keys(name));
  }
}
