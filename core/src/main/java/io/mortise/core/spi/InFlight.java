package io.mortise.core.spi;

import io.mortise.core.internal.EngineSource;
import io.mortise.core.internal.ReleaseAhead;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A question to a lock's server that is sent, and not answered yet. So one thread can have several
 * servers work for it at the same time.
 *
 * <p>Used by one thread at a time; whoever passes it to another orders the two. {@link #await} has
 * to be called, once: a connection waits for it, and perhaps a hold.
 *
 * @param <T> what is answered
 */
public interface InFlight<T> {

  /** Whether an answer is under way, or there: otherwise {@link #await} asks first. */
  boolean isSent();

  /** Whether {@link #await} would not have to wait, as far as that can be told. */
  boolean hasArrived();

  /**
   * Waits for the answer, through interrupts, at the most as long as a command may take.
   *
   * @throws io.mortise.core.LockException as the question throws it when it is asked at once
   */
  T await();

  /**
   * Asks for a lease, without waiting for it if somebody else has it; see {@link
   * LeaseSource#acquire}.
   *
   * @return empty if this source cannot be asked ahead
   */
  static Optional<InFlight<Optional<OwnedLease>>> acquire(
      LeaseSource source, Terms terms, @Nullable Thread owner) {
    return source instanceof EngineSource one
        ? Optional.of(one.acquireAhead(terms, owner))
        : Optional.empty();
  }

  /**
   * Releases; see {@link OwnedLease#release}. It has begun when this returns.
   *
   * @return empty if this hold cannot be released ahead
   */
  static Optional<InFlight<Boolean>> release(OwnedLease lease) {
    return ReleaseAhead.of(lease);
  }
}
