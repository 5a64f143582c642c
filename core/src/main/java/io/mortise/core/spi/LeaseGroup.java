package io.mortise.core.spi;

import io.mortise.core.internal.EngineSource;
import io.mortise.core.internal.GroupAttempt;
import io.mortise.core.internal.GroupRaise;
import io.mortise.core.internal.GroupRelease;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Several locks of one client and one family, taken and given back in one round trip. */
public final class LeaseGroup {
  private LeaseGroup() {}

  /** What came of an attempt to take all of a group. */
  public sealed interface Outcome {
    /**
     * All are held.
     *
     * @param leases in the order of the sources
     */
    record Acquired(List<OwnedLease> leases) implements Outcome {}

    /**
     * Somebody else holds one of them, or waits in line for it; none is held.
     *
     * @param index the first of them in the order of the sources
     */
    record Busy(int index) implements Outcome {}
  }

  /** Whether the two can be taken in one round trip. */
  public static boolean joins(LeaseSource one, LeaseSource other) {
    return one instanceof EngineSource first
        && other instanceof EngineSource second
        && first.joins(second);
  }

  /**
   * Makes one attempt to take all of them, or none.
   *
   * @param sources different locks that {@link #joins join} each other
   * @param terms its wait is for how long the answer may take; zero for the client's time-out
   * @param owner the thread that will own the holds, or null
   * @throws io.mortise.core.LockException if Redis could not be used; none is held
   * @throws InterruptedException if the thread was interrupted before, and the terms say that this
   *     ends a wait
   */
  public static Outcome acquire(
      List<? extends LeaseSource> sources, Terms terms, @Nullable Thread owner)
      throws InterruptedException {
    List<EngineSource> joined = new ArrayList<>(sources.size());
    for (LeaseSource source : sources) {
      if (!joins(sources.get(0), source)) {
        throw new IllegalArgumentException(
            "locks '%s' and '%s' cannot be taken in one round trip"
                .formatted(sources.get(0).name(), source.name()));
      }
      joined.add((EngineSource) source);
    }
    return GroupAttempt.make(joined, terms, owner);
  }

  /**
   * Releases all of them, those of one client in one round trip.
   *
   * @return what went wrong; every one was released, or is being released in the background
   */
  public static List<RuntimeException> release(List<? extends OwnedLease> leases) {
    return GroupRelease.run(leases);
  }

  /**
   * Raises the tokens of all of them, those of one client in one round trip; see {@link
   * OwnedLease#raiseToken}.
   *
   * @return whether all are held, and have at least that token now
   * @throws io.mortise.core.LockException if Redis could not be used
   */
  public static boolean raiseTokens(List<? extends OwnedLease> leases, long atLeast) {
    return GroupRaise.run(leases, atLeast);
  }
}
