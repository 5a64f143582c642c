package io.mortise.connection.concurrent;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * An event count: a counter that only rises, and a wait that ends when its value differs from the
 * one that the waiter saw. A wake-up between the look and the wait is not lost. (Reed and Kanodia,
 * <a href="https://dl.acm.org/doi/10.1145/359060.359076">Synchronization with Eventcounts and
 * Sequencers</a>.)
 *
 * <pre>
 *   waiter                      subscriber
 *   seen = generation()
 *   attempt: busy
 *                               message: fire()          nothing is lost here,
 *   await(seen) returns at once                          because the counter has moved
 * </pre>
 *
 * <p><b>A full heap.</b> {@code fire} allocates nothing, so no waiter is forgotten when memory runs
 * out: what a wait needs, the waiter allocates before it parks.
 *
 * <p><b>Threads.</b> Any thread may call every method. The order is Dekker-style "publish, then
 * look": a waiter adds itself <em>before</em> it reads the counter, and {@code fire} moves the
 * counter <em>before</em> it reads the waiters. One of the two sees the other.
 */
public final class Signal {
  private static final Consumer<Waiter> LOOK = Waiter::look;

  private final AtomicLong generation = new AtomicLong();
  private final ConcurrentLinkedQueue<Waiter> waiters = new ConcurrentLinkedQueue<>();

  /** A wait for another value than {@code seen}. */
  private final class Waiter {
    final long seen;
    final CountDownLatch moved = new CountDownLatch(1);

    Waiter(long seen) {
      this.seen = seen;
    }

    void look() {
      if (generation.get() != seen) {
        moved.countDown();
      }
    }
  }

  public long generation() {
    return generation.get();
  }

  /** Wakes all threads that wait, or are about to wait, for another value than the present one. */
  public void fire() {
    generation.incrementAndGet();
    waiters.forEach(LOOK); // an iterator would need memory
  }

  /**
   * Waits until the counter is no longer {@code seen}, or the time is over.
   *
   * @throws InterruptedException if the thread is interrupted before or while it waits
   */
  public void await(long seen, long nanos) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (generation.get() != seen || nanos <= 0) {
      return;
    }
    Waiter waiter = new Waiter(seen);
    waiters.add(waiter);
    try {
      waiter.look();
      var unused = waiter.moved.await(nanos, TimeUnit.NANOSECONDS);
    } finally {
      waiters.remove(waiter);
    }
  }
}
