package io.mortise.redlock;

import io.mortise.core.LockException;
import io.mortise.core.spi.CallerWait;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reacquires the nodes that a hold is missing: nodes that were down when it began, restarted empty,
 * or were cut off. While a majority is valid, no other client can hold a majority, so acquiring the
 * remaining nodes is safe. Without reacquisition a hold would lose its majority over several
 * restarts.
 *
 * <p>A node is not reacquired for a thread that has died, for a hold whose renewal has stopped for
 * good, as at the end of {@code maxHold}, or after a forced release on any of its nodes: these
 * holds are meant to end, and a node that the hold was missing may have been forced too. The hold
 * tells it ({@link IncompleteHold}), also for attempts that were scheduled before.
 *
 * <p><b>An open slot always has an attempt</b>, scheduled or in progress, unless the hold has
 * ended. A thread that empties a slot, or sees an empty one, calls {@link #recheck} afterwards;
 * that call either schedules an attempt or finds one. A thread that ends an attempt first marks the
 * slot as idle and then checks it again. A loss between the two steps is therefore seen by one of
 * the two threads. The thread of an attempt does not end before it has checked: without memory it
 * waits and checks again.
 *
 * <p>An attempt waits for a short time: several waiters may hold the node in turn without a
 * majority, and an attempt without a wait would rarely find it free.
 *
 * <p><b>Threads.</b> Any thread may call it. The monitor guards the slots; no command is sent and
 * no lease is read while it is held. An attempt runs on a thread of the node's client, and the end
 * of the hold interrupts it. An attempt that is granted after that releases its lease, because the
 * hold rejects it.
 */
final class NodeReacquisition {
  private static final Logger LOG = LoggerFactory.getLogger(NodeReacquisition.class);

  /** The longest pause before an attempt, and the longest wait of one. */
  static final long MAX_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** The pause before another check when there was no memory for it. */
  private static final long NO_MEMORY_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private final LeaseSource source;
  private final QuorumMembers members;
  private final @Nullable Thread owner;
  private final long firstPauseNanos;

  // Both guarded by the monitor.
  private final NodeSlot[] slots;
  private boolean ended;

  private @Nullable IncompleteHold hold;

  /** A hold of a majority that may be missing nodes. */
  interface IncompleteHold extends OwnedLease {

    /** Returns whether a forced release has ended one of its leases. */
    boolean isForced();

    /** Returns whether its renewal has stopped for good, as at the end of {@code maxHold}. */
    boolean isStopped();

    /** Returns the lease at that place, lost or not; null when there is none. */
    @Nullable OwnedLease leaseAt(int place);

    /**
     * Adds the lease of a node that has granted it after the hold had begun.
     *
     * @param expected the lease that was in its place until now
     * @return false when it could not join, and was released
     */
    boolean addMember(int place, @Nullable OwnedLease expected, OwnedLease lease);
  }

  /** The state of the reacquisition of one node. */
  private static final class NodeSlot {
    /** Whether an attempt is scheduled or in progress. */
    boolean inProgress;

    int attempts;
    @Nullable Thread thread;
    Runnable cancel = () -> {};
  }

  /**
   * @param firstPauseNanos the pause before the first attempt; it doubles with each attempt
   */
  NodeReacquisition(
      LeaseSource source, QuorumMembers members, @Nullable Thread owner, long firstPauseNanos) {
    this.source = source;
    this.members = members;
    this.owner = owner;
    this.firstPauseNanos = firstPauseNanos;
    this.slots = new NodeSlot[members.size()];
    for (int i = 0; i < slots.length; i++) {
      slots[i] = new NodeSlot();
    }
  }

  /** Sets the hold; called before any other method. */
  void begin(IncompleteHold newHold) {
    hold = newHold;
  }

  /** Schedules an attempt if the slot is open; called after a change of the slot. */
  void recheck(int place) {
    if (isEmpty(hold().leaseAt(place)) && !hold().isForced()) {
      schedule(place);
    }
  }

  private static boolean isEmpty(@Nullable OwnedLease lease) {
    return lease == null || !lease.isValid();
  }

  /** Cancels and interrupts all attempts, because the hold has ended. */
  synchronized void end() {
    ended = true;
    for (NodeSlot slot : slots) {
      if (slot.thread != null) {
        slot.thread.interrupt();
      }
      slot.cancel.run();
    }
  }

  private IncompleteHold hold() {
    return Objects.requireNonNull(hold, "begin() comes first");
  }

  private synchronized void schedule(int place) {
    NodeSlot slot = slots[place];
    if (slot.inProgress || ended || !mayContinue()) {
      return;
    }
    long pause =
        CallerWait.backoffNanos(firstPauseNanos, MAX_PAUSE_NANOS, slot.attempts++, source.random());
    try {
      slot.cancel = members.at(place).source().schedule(() -> attempt(place, slot), pause);
      slot.inProgress = true;
    } catch (RejectedExecutionException closed) {
      LOG.debug("lock '{}': {} is not reacquired", source.name(), members.at(place), closed);
    }
  }

  private boolean mayContinue() {
    return (owner == null || owner.isAlive()) && !hold().isStopped();
  }

  private void attempt(int place, NodeSlot slot) {
    IncompleteHold current = hold();
    try {
      OwnedLease before = current.leaseAt(place);
      boolean filled = !isEmpty(before); // by a late grant
      if (!filled && current.isValid() && !current.isForced() && mayContinue()) {
        Optional<OwnedLease> lease = acquire(current, members.at(place), slot);
        filled = lease.isPresent() && current.addMember(place, before, lease.get());
        if (filled) {
          LOG.debug("lock '{}': {} has been reacquired", source.name(), members.at(place));
        }
      }
      if (filled) {
        onFilled(slot);
      }
    } catch (RuntimeException e) {
      LOG.warn("lock '{}': {} cannot be reacquired", source.name(), members.at(place), e);
    } finally {
      endAttempt(slot);
      ensureRechecked(place);
    }
  }

  /** Waits for memory if there is none: no other thread may look at the slot again. */
  private void ensureRechecked(int place) {
    while (true) {
      try {
        recheck(place);
        return;
      } catch (OutOfMemoryError full) {
        LockSupport.parkNanos(this, NO_MEMORY_PAUSE_NANOS);
      }
    }
  }

  private synchronized void onFilled(NodeSlot slot) {
    slot.attempts = 0;
  }

  private synchronized void endAttempt(NodeSlot slot) {
    slot.inProgress = false;
  }

  private Optional<OwnedLease> acquire(IncompleteHold current, QuorumMember member, NodeSlot slot) {
    if (member.isUnresponsive() || !onStart(slot)) {
      return Optional.empty();
    }
    boolean answered = false;
    try {
      Optional<OwnedLease> lease = acquireAbandoned(current, member);
      answered = true;
      return lease;
    } catch (LockException e) {
      LOG.debug("lock '{}': {} cannot be reacquired yet", source.name(), member, e);
      return Optional.empty();
    } catch (InterruptedException e) { // the hold has ended
      return Optional.empty();
    } finally {
      onEnd(slot, answered);
    }
  }

  /** Nobody waits for this call, so it counts as abandoned from its beginning. */
  private Optional<OwnedLease> acquireAbandoned(IncompleteHold current, QuorumMember member)
      throws InterruptedException {
    member.onAbandoned();
    try {
      return member.acquire(termsFor(current), owner);
    } finally {
      member.health().onAbandonedEnd();
    }
  }

  /** Registers the attempt: from here on the end of the hold interrupts it. */
  private synchronized boolean onStart(NodeSlot slot) {
    slot.thread = ended ? null : Thread.currentThread();
    return !ended;
  }

  /** After a reply the next attempt follows soon: the node is up, and will soon be free. */
  private synchronized void onEnd(NodeSlot slot, boolean answered) {
    slot.thread = null;
    slot.attempts = answered ? Math.min(slot.attempts, 1) : slot.attempts;
    Thread.interrupted(); // an interrupt that came too late is meant for no other task
  }

  /**
   * A member of a hold that is not renewed ends with the hold. It is acquired for the client's own
   * lease at most, and then extended: a renewal that a re-entry begins, also after {@code maxHold},
   * asks for the lease of the acquisition again.
   */
  private LeaseTerms termsFor(IncompleteHold current) {
    LeaseTerms renewed = renewedTerms();
    long millis = Math.min(remainingTerms(current).leaseMillis(), renewed.leaseMillis());
    return current.isRenewed() ? renewed : new LeaseTerms(firstPauseNanos, millis, false, true);
  }

  /** Returns the terms of a renewed lease. */
  LeaseTerms renewedTerms() {
    return LeaseTerms.of(source.options(), Duration.ofNanos(firstPauseNanos), null, true);
  }

  /**
   * Extends a member that joins to the end of the others; usually that sends nothing. That is later
   * than its own end if a level of re-entry asked for a longer lease without renewal, for which the
   * hold must last when those that ask for renewal are over, or if the hold has a longer lease than
   * the member was acquired for.
   */
  void extendToTheOthers(OwnedLease member) {
    Duration own = source.options().lease();
    Duration rest = hold().remaining();
    if (member.isRenewed() || (member.remaining().compareTo(own) <= 0 && rest.compareTo(own) > 0)) {
      member.extendTo(remainingTerms(hold()));
    }
  }

  private LeaseTerms remainingTerms(IncompleteHold current) {
    return new LeaseTerms(
        firstPauseNanos, Math.max(1, current.remaining().toMillis()), false, true);
  }
}
