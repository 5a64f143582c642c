package io.mortise.benchmarks.worker;

import io.mortise.benchmarks.locks.LockKind;
import io.mortise.benchmarks.locks.Locks;
import io.mortise.benchmarks.locks.NameSharing;
import io.mortise.benchmarks.locks.Section;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;

/**
 * Threads that wait for one name which somebody else holds.
 *
 * <p>What they cost is what is there more when they wait for the lock than when the same threads
 * waited for a latch.
 */
final class Waiting {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final List<Thread> threads = new ArrayList<>();
  private final Heap before;

  Waiting(Locks locks, WorkerRequest.Wait order) {
    // The client's own fixed costs are not a waiter's: it has locked before.
    Section warm =
        locks.section(LockKind.PLAIN, List.of(order.name() + ":warm"), NameSharing.NOBODY);
    warm.enter();
    warm.leave();
    CountDownLatch go = new CountDownLatch(1);
    for (int i = 0; i < order.waiters(); i++) {
      threads.add(Threads.start(order.virtual(), () -> await(locks, order.name(), go)));
    }
    awaitParked();
    before = Heap.count();
    go.countDown();
    Awaitility.await().pollDelay(Duration.ofMillis(200)).until(() -> true);
    awaitParked();
  }

  /** The lock object is there before: what is weighed is the waiting. */
  private static void await(Locks locks, String name, CountDownLatch go) {
    Section section = locks.section(LockKind.PLAIN, List.of(name), NameSharing.THREADS);
    try {
      go.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    section.enter();
    section.leave();
  }

  private void awaitParked() {
    Awaitility.await("all " + threads.size() + " are parked")
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(100))
        .until(() -> threads.stream().allMatch(Waiting::isParked));
  }

  private static boolean isParked(Thread thread) {
    return switch (thread.getState()) {
      case WAITING, TIMED_WAITING -> true;
      case TERMINATED -> throw new IllegalStateException("a waiter has ended");
      default -> false;
    };
  }

  /** The memory of a waiter. */
  Report weigh() {
    Heap now = Heap.count();
    double stacks = (double) (now.stackBytes() - before.stackBytes()) / threads.size();
    double all = (double) (now.bytes() - before.bytes()) / threads.size();
    long parked = threads.stream().filter(Waiting::isParked).count();
    return Report.of(
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
