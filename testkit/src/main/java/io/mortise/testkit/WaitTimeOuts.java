package io.mortise.testkit;

import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.WaitPolicy;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The waits that a test lets time out, of all clients of one {@link InMemoryRedis}.
 *
 * <p>While such a time-out is pending, an acquisition first makes one attempt, as {@code tryLock()}
 * without a wait does. If the lock is busy, the acquisition takes the time-out and ends, and
 * nothing has waited. So no clock has to be moved: leases, renewals and the waits of others go on.
 *
 * <p><b>Threads.</b> Any thread may call every method. Of several acquisitions that find their
 * locks busy, each pending time-out ends one; the others begin to wait, for as long as they were
 * asked to.
 */
final class WaitTimeOuts implements WaitPolicy {
  private final AtomicInteger pending = new AtomicInteger();

  void add() {
    pending.incrementAndGet();
  }

  @Override
  public Optional<OwnedLease> acquire(LeaseTerms terms, Attempt attempt)
      throws InterruptedException {
    if (pending.get() == 0 || terms.waitNanos() == 0 || terms.isUnbounded()) {
      return attempt.with(terms);
    }
    Optional<OwnedLease> held = attempt.with(terms.waiting(0));
    return held.isPresent() || take() ? held : attempt.with(terms);
  }

  @Override
  public WaitPolicy begun() {
    return pending.get() == 0 ? AS_ASKED : this;
  }

  /** Takes a time-out; returns false when there is none any more. */
  private boolean take() {
    return pending.getAndUpdate(count -> Math.max(0, count - 1)) > 0;
  }
}
