package io.mortise.it.chaos;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;

/**
 * A hold, and how to release it: a handle's {@code close()} or a thread's {@code unlock()}.
 *
 * @param renewed whether it is renewed until then
 */
record EnteredHold(Lease lease, Runnable release, boolean renewed) {
  private static final Duration MAX_WAIT = Duration.ofSeconds(2);

  static {
    FullHeap.prepare(OutOfMemoryError.class);
  }

  /** Acquires in one of the ways of the API, at random; empty if another owner held the lock. */
  static Optional<EnteredHold> attempt(DistributedLock lock, Duration lease, Random random)
      throws InterruptedException {
    boolean renewed = random.nextBoolean();
    Duration wait = Duration.ofMillis(random.nextLong(MAX_WAIT.toMillis()));
    return switch (random.nextInt(5)) {
      case 0 -> handle(renewed ? lock.tryAcquire() : lock.withLease(lease).tryAcquire(), renewed);
      case 1, 2 -> handle(renewed ? lock.acquire(wait) : lock.acquire(wait, lease), renewed);
      case 3 -> thread(lock, renewed ? lock.tryLock(wait) : lock.tryLock(wait, lease), renewed);
      default -> {
        if (renewed) {
          lock.lock();
        } else {
          lock.withLease(lease).lock();
        }
        yield thread(lock, true, renewed);
      }
    };
  }

  private static Optional<EnteredHold> handle(Optional<Lease> lease, boolean renewed) {
    try {
      return lease.map(granted -> new EnteredHold(granted, granted::close, renewed));
    } catch (OutOfMemoryError full) { // no caller has it, as in a try with resources
      lease.ifPresent(Lease::close);
      throw full;
    }
  }

  private static Optional<EnteredHold> thread(
      DistributedLock lock, boolean acquired, boolean renewed) {
    try {
      return acquired
          ? Optional.of(new EnteredHold(lock.lease(), lock::unlock, renewed))
          : Optional.empty();
    } catch (OutOfMemoryError full) { // as in a finally block
      lock.unlock();
      throw full;
    }
  }
}
