package io.mortise.it.chaos;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockException;
import io.mortise.it.support.LateAnswer;
import io.mortise.it.support.TestThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Threads of a client process that ask for a lock at the same time: each has to get it. */
final class RollCall {
  private RollCall() {}

  /**
   * Lets that number of threads ask, in turn by each way into the section.
   *
   * @param bound how long each waits at most
   * @return the longest wait in ms; empty if a thread did not get in, which is printed
   */
  static Optional<Long> call(List<SectionEntry> entries, int count, Duration bound)
      throws InterruptedException {
    try (TestThreads threads = new TestThreads()) {
      List<Future<Optional<Long>>> waits = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        DistributedLock lock = entries.get(i % entries.size()).lock();
        waits.add(threads.ask(() -> enter(lock, bound)));
      }
      long longestMillis = 0;
      for (Future<Optional<Long>> wait : waits) {
        Optional<Long> millis = wait.get();
        if (millis.isEmpty()) {
          return Optional.empty();
        }
        longestMillis = Math.max(longestMillis, millis.get());
      }
      return Optional.of(longestMillis);
    } catch (ExecutionException e) {
      e.getCause().printStackTrace(System.out);
      return Optional.empty();
    }
  }

  private static Optional<Long> enter(DistributedLock lock, Duration bound)
      throws InterruptedException {
    long startNanos = System.nanoTime();
    try {
      Optional<Lease> lease = lock.acquire(bound);
      long waitedNanos = System.nanoTime() - startNanos;
      if (lease.isPresent()) {
        LateAnswer.release(lock, lease.get()::close);
        return Optional.of(TimeUnit.NANOSECONDS.toMillis(waitedNanos));
      }
      System.out.printf("'%s' is held by others for %s%n", lock.name(), bound);
    } catch (LockException e) {
      e.printStackTrace(System.out);
    }
    return Optional.empty();
  }
}
