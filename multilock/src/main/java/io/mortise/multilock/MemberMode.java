package io.mortise.multilock;

import io.mortise.core.composite.LeaseGroup;
import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Acquires and releases members: for a thread that owns each of them, or as handles.
 *
 * <p><b>Threads.</b> Any thread may call it; {@link ThreadMode} acts on the holds of the calling
 * thread.
 */
interface MemberMode {
  /** Gives each client the time that its commands may take. */
  LeaseGroup.Releaser UNBOUNDED = LeaseGroup::release;

  /** Returns whether a thread owns the members, and alone can release them. */
  boolean ownsByThread();

  /** Returns whether the calling thread holds the member, so that acquiring it sends nothing. */
  boolean isHeldByThread(LeaseSource member);

  /** Acquires a member; returns null when another owner holds it. */
  @Nullable OwnedLease acquire(LeaseSource member, LeaseTerms terms) throws InterruptedException;

  /** Makes one attempt to acquire all members or none, in one round trip. */
  GroupAttemptResult acquireTogether(List<LeaseSource> members, LeaseTerms terms)
      throws InterruptedException;

  /** Adds one level of re-entry to each member; only for a thread. */
  default void reenter(List<LeaseSource> members, LeaseTerms terms) {
    throw new IllegalStateException("a handle is not entered again");
  }

  /** Exits one level of each member, which is not the last; only for a thread. */
  default void exit(List<LeaseSource> members) {
    throw new IllegalStateException("a handle is not entered again");
  }

  /** Releases the members; returns the failures. After an error none of them is renewed. */
  default List<RuntimeException> release(List<LeaseSource> from, List<OwnedLease> held) {
    return release(from, held, UNBOUNDED);
  }

  /** As {@link #release(List, List)}, with another way to release what the members hold. */
  List<RuntimeException> release(
      List<LeaseSource> from, List<OwnedLease> held, LeaseGroup.Releaser releaser);

  /** Gives a member up without a command and without memory: it ends with its lease. */
  void abandon(LeaseSource member, OwnedLease lease);
}
