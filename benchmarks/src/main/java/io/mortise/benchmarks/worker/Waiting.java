package io.mortise.benchmarks.worker;

import io.mortise.benchmarks.locks.Locks;
import io.mortise.benchmarks.locks.MeasuredLock;
import io.mortise.benchmarks.locks.NameSharing;
import io.mortise.benchmarks.locks.Section;
import java.lang.Thread.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;

/**
 * Threads that wait for a name which another client holds.
 *
 * <p>The heap of a waiter is the difference between the heap while all threads wait for the lock
 * and the heap while the same threads wait for a latch. A thread that has failed does not count as
 * waiting: the case says how many do.
 */
final class Waiting {
  private static final Duration PARK_TIMEOUT = Duration.ofMinutes(2);

  private final List<Thread> threads = new ArrayList<>();
  private final Heap before;

  Waiting(Locks locks, BenchmarkRequest.Wait request) throws InterruptedException {
    // The fixed costs of a client are not those of a waiter: it has locked before.
    Section warm =
        locks.section(MeasuredLock.PLAIN, List.of(request.name() + ":warm"), NameSharing.NOBODY);
    warm.enter();
    warm.leave();
    CountDownLatch go = new CountDownLatch(1);
    CountDownLatch gone = new CountDownLatch(request.waiters());
    for (int i = 0; i < request.waiters(); i++) {
      threads.add(Threads.start(request.virtual(), () -> await(locks, request.name(), go, gone)));
    }
    awaitParked();
    before = Heap.count();
    go.countDown();
    gone.await(); // from the latch; from here on whoever is parked waits for the lock
    awaitParked();
  }

  /** Makes the lock object first, so that only the waiting is measured. */
  private static void await(Locks locks, String name, CountDownLatch go, CountDownLatch gone) {
    Section section = locks.section(MeasuredLock.PLAIN, List.of(name), NameSharing.THREADS);
    try {
      go.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    gone.countDown();
    section.enter();
    section.leave();
  }

  private void awaitParked() {
    Awaitility.await("all " + threads.size() + " are parked, or have failed")
        .atMost(PARK_TIMEOUT)
        .pollInterval(Duration.ofMillis(100))
        .until(
            () ->
                threads.stream()
                    .allMatch(each -> isParked(each) || each.getState() == State.TERMINATED));
  }

  private static boolean isParked(Thread thread) {
    return thread.getState() == State.WAITING || thread.getState() == State.TIMED_WAITING;
  }

  /** Measures the memory of a waiter. */
  WorkerReport measureHeap() {
    Heap now = Heap.count();
    double stacks = (double) (now.stackBytes() - before.stackBytes()) / threads.size();
    double all = (double) (now.bytes() - before.bytes()) / threads.size();
    long parked = threads.stream().filter(Waiting::isParked).count();
    return WorkerReport.of(
        0,
        0,
        Map.of(
            "heap_bytes_per_waiter",
            all - stacks,
            "stack_bytes_per_waiter",
            (double) now.stackBytes() / threads.size(),
            "waiting",
            (double) parked));
  }
}
