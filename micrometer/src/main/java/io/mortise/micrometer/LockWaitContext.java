package io.mortise.micrometer;

import io.micrometer.observation.Observation;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The facts of one wait for a lock, for a {@link LockWaitConvention} and for handlers.
 *
 * <p><b>Threads.</b> Any thread may call any method. The outcome is set before the observation
 * stops, by the thread that stops it.
 */
public final class LockWaitContext extends Observation.Context {
  private final String lockName;
  private volatile @Nullable String outcome;
  private volatile @Nullable Long fencingToken;

  LockWaitContext(String lockName) {
    this.lockName = lockName;
  }

  /** Returns the name of the lock in Redis. */
  public String lockName() {
    return lockName;
  }

  /**
   * Returns {@code acquired}, {@code not_acquired} when others had the lock all the time, {@code
   * interrupted}, or {@code error}; empty while the wait lasts.
   */
  public Optional<String> outcome() {
    return Optional.ofNullable(outcome);
  }

  /** Returns the fencing token of a lock that was acquired as a handle; otherwise empty. */
  public Optional<Long> fencingToken() {
    return Optional.ofNullable(fencingToken);
  }

  void setOutcome(AcquireOutcome reached) {
    outcome = reached.value();
  }

  void setFencingToken(long token) {
    fencingToken = token;
  }
}
