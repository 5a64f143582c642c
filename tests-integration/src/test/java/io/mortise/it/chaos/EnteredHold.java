package io.mortise.it.chaos;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;

/**
 * A hold, and the way to give it up: a handle's {@code close()} or a thread's {@code unlock()}.
 *
 * @param renewed whether it is renewed until then
 */
record EnteredHold(Lease lease, Runnable leave, boolean renewed) {
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(2);

  /** One of the ways that the API has, at random; empty if somebody else had the lock. */
  static Optional<EnteredHold> attempt(DistributedLock lock, Duration lease, Random random)
      throws InterruptedException {
    boolean renewed = random.nextBoolean();
    Duration wait = Duration.ofMillis(random.nextLong(LONGEST_WAIT.toMillis()));
    return switch (random.nextInt(5)) {
      case 0 -> handle(renewed ? lock.tryAcquire() : lock.tryAcquire(lease), renewed);
      case 1, 2 -> handle(renewed ? lock.acquire(wait) : lock.acquire(wait, lease), renewed);
      case 3 -> thread(lock, renewed ? lock.tryLock(wait) : lock.tryLock(wait, lease), renewed);
      default -> {
        if (renewed) {
          lock.lock();
        } else {
          lock.lock(lease);
        }
        yield thread(lock, true, renewed);
      }
    };
  }

  private static Optional<EnteredHold> handle(Optional<Lease> lease, boolean renewed) {
    return lease.map(got -> new EnteredHold(got, got::close, renewed));
  }

  private static Optional<EnteredHold> thread(DistributedLock lock, boolean got, boolean renewed) {
    return got
        ? Optional.of(new EnteredHold(lock.lease(), lock::unlock, renewed))
        : Optional.empty();
  }
}
