package io.mortise.testkit;

import com.google.common.util.concurrent.Uninterruptibles;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Starts daemon threads and waits for their ends.
 *
 * <p><b>Threads.</b> Any thread may start others. A thread starts others only while it runs itself,
 * so when none is left none will come.
 */
final class DaemonThreads {
  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

  /** Starts a thread, and forgets those that have ended: they cannot say so themselves. */
  void start(String name, Runnable task) {
    threads.removeIf(thread -> !thread.isAlive());
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
    threads.add(thread);
  }

  /** Waits until all threads have ended, or for that long. An interrupt is kept for the caller. */
  void join(Duration timeout) {
    long deadline = System.nanoTime() + timeout.toNanos();
    Optional<Thread> alive = anyAlive();
    while (alive.isPresent() && System.nanoTime() < deadline) {
      Uninterruptibles.joinUninterruptibly(
          alive.get(), Duration.ofNanos(Math.max(1, deadline - System.nanoTime())));
      alive = anyAlive();
    }
  }

  private Optional<Thread> anyAlive() {
    threads.removeIf(thread -> !thread.isAlive());
    return threads.stream().findFirst();
  }
}
