package io.mortise.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * The load of the contracts: many threads on one lock, and many locks of one thread.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
final class Contention {
  private static final int THREADS_PER_CLIENT = 4;
  private static final int ROUNDS = 50;
  private static final int NAMES = 100;

  private Contention() {}

  /** A counter that is read and written, not incremented, ends exact, and the log agrees. */
  static void countTogether(DistributedLock here, DistributedLock there, Path logs)
      throws Exception {
    AtomicInteger counter = new AtomicInteger();
    List<DistributedLock> locks = new ArrayList<>();
    for (int i = 0; i < THREADS_PER_CLIENT; i++) {
      locks.add(here);
      locks.add(there);
    }
    try (HoldLog log = HoldLog.open(logs)) {
      inParallel(
          locks,
          lock -> {
            for (int round = 0; round < ROUNDS; round++) {
              lock.lock();
              try {
                int seen = counter.get();
                // Between read and write, so that a thread that is not excluded has time to enter.
                HoldLog.Hold hold =
                    log.acquired(
                        lock.name(), Thread.currentThread().getName(), lock.lease().fencingToken());
                counter.set(seen + 1);
                hold.released();
              } finally {
                lock.unlock();
              }
            }
          });
    }
    assertEquals(locks.size() * ROUNDS, counter.get());
    HoldChecker.Report report = HoldChecker.check(logs);
    report.assertSafe();
    assertEquals(locks.size() * ROUNDS, report.holds());
    assertEquals(0, report.unfinished());
  }

  /** The same with a plain field: only the lock makes it visible. */
  static void countWithoutVolatile(DistributedLock lock) throws Exception {
    int[] counter = {0};
    inParallel(
        List.of(lock, lock, lock),
        each -> {
          for (int round = 0; round < ROUNDS; round++) {
            each.lock();
            try {
              counter[0]++;
            } finally {
              each.unlock();
            }
          }
        });
    lock.lock();
    try {
      assertEquals(3 * ROUNDS, counter[0]);
    } finally {
      lock.unlock();
    }
  }

  /** One thread holds many names, none of which another client gets, until it releases them all. */
  static void holdManyNames(LockFamily family, String prefix) {
    List<String> names = IntStream.range(0, NAMES).mapToObj(i -> prefix + ":" + i).toList();
    List<DistributedLock> held = names.stream().map(family::lock).toList();
    held.forEach(DistributedLock::lock);
    names.forEach(name -> assertFalse(family.otherProcess(name).tryLock(), name));
    held.forEach(lock -> assertTrue(lock.isHeldByCurrentThread(), lock.name()));
    held.forEach(DistributedLock::unlock);
    for (String name : names) {
      DistributedLock other = family.otherProcess(name);
      assertTrue(other.tryLock(), name);
      other.unlock();
    }
  }

  private interface Work {
    void on(DistributedLock lock) throws Exception;
  }

  /** A thread for each of the locks. */
  private static void inParallel(List<DistributedLock> locks, Work work) throws Exception {
    List<TestThread> actors = new ArrayList<>();
    List<Future<?>> ends = new ArrayList<>();
    try {
      for (DistributedLock lock : locks) {
        TestThread actor = new TestThread("contender-" + actors.size());
        actors.add(actor);
        ends.add(
            actor.start(
                () -> {
                  work.on(lock);
                  return true;
                }));
      }
      for (Future<?> end : ends) {
        TestThread.result(end);
      }
    } finally {
      actors.forEach(TestThread::close);
    }
  }
}
