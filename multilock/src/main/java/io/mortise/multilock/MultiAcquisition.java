package io.mortise.multilock;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.composite.CompositeLease;
import io.mortise.core.composite.LeaseGroup;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One acquisition of all members, or none.
 *
 * <pre>
 *   round: what goes in one round trip is tried together <-----------------------------------+
 *            |-- all free ----------------------------------------> taken                    |
 *            +-- one is busy: give back what stands behind it in the order, wait for that    |
 *                |            one alone, then try the rest together                          |
 *                +-- not in time: give back all, pause, wait for that one with nothing else -+
 * </pre>
 *
 * <p>Whoever waits has in hand only what stands before, in an order that all processes share: so
 * those who lock this way cannot wait for each other in a circle. Those who take the members by
 * themselves can; therefore a wait with anything in hand has an end. After it the one that was busy
 * is waited for first, with nothing in hand: if all began at the first member again, they would
 * take it from each other in turn, and who has the busy one and waits for the first would hardly
 * ever get it.
 *
 * <p><b>Threads.</b> Confined to the thread that waits. <b>What can go wrong where:</b> an
 * interrupt is thrown by the member that waits, or looked at in the pause; whatever is thrown, by
 * whichever member, all that is in hand is given back first, and what goes wrong with that is
 * suppressed in it. A lost reply is the member's to settle. A member lost while others are waited
 * for is found when all are there, and the round counts as failed.
 */
final class MultiAcquisition {
  private static final Logger LOG = LoggerFactory.getLogger(MultiAcquisition.class);
  private static final long FIRST_IN_HAND_NANOS = 25_000_000L;
  private static final long MOST_IN_HAND_NANOS = 3_200_000_000L;
  private static final long MOST_PAUSE_NANOS = 50_000_000L;

  private final MultiLeaseSource source;
  private final List<LeaseSource> members;
  private final LeaseTerms terms;
  private final @Nullable Thread owner;
  private final MemberMode taking;
  private final AcquiredMembers hand;
  private final long startNanos = System.nanoTime();
  private long inHandNanos = FIRST_IN_HAND_NANOS;

  /** What was waited for in vain with others in hand; -1 for none. */
  private int busyPlace = -1;

  private boolean interrupted;

  MultiAcquisition(
      MultiLeaseSource source, LeaseTerms terms, @Nullable Thread owner, MemberMode taking) {
    this.source = source;
    this.members = source.members();
    this.terms = terms;
    this.owner = owner;
    this.taking = taking;
    this.hand = new AcquiredMembers(members, taking);
  }

  Optional<OwnedLease> run() throws InterruptedException {
    try {
      return tryUntilDone();
    } catch (InterruptedException | RuntimeException | Error e) {
      hand.giveBackAll().forEach(e::addSuppressed);
      throw e;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private Optional<OwnedLease> tryUntilDone() throws InterruptedException {
    long troubleSinceNanos = 0;
    LockException trouble = null;
    while (true) {
      long roundNanos = System.nanoTime();
      try {
        if (round()) {
          return Optional.of(joint());
        }
        trouble = null;
      } catch (LockException e) {
        troubleSinceNanos = trouble == null ? roundNanos : troubleSinceNanos;
        trouble = e;
        if (!e.reason().isTransient() || leftNanos() <= 0 || isTooLong(troubleSinceNanos)) {
          throw e;
        }
      }
      for (RuntimeException e : hand.giveBackAll()) {
        LOG.debug("lock '{}': a member could not be given back", source.name(), e);
      }
      if (leftNanos() <= 0) {
        if (trouble != null) {
          throw trouble;
        }
        return Optional.empty();
      }
      pause();
      inHandNanos = Math.min(MOST_IN_HAND_NANOS, inHandNanos * 2);
    }
  }

  /** No client is waited for longer than it says, whichever it is that has the trouble. */
  private boolean isTooLong(long sinceNanos) {
    LongStream patience = members.stream().mapToLong(m -> m.options().outageTimeout().toNanos());
    return terms.isUnbounded() && System.nanoTime() - sinceNanos >= patience.min().orElseThrow();
  }

  // ---- one round

  /** Whether all were taken; if not, somebody else holds one of them. */
  private boolean round() throws InterruptedException {
    hand.takeWhatIsOwned(each(0));
    if (!takeBusyFirst()) {
      return false;
    }
    while (true) {
      List<Integer> missing = hand.missing();
      if (missing.isEmpty()) {
        return true;
      }
      int next = missing.get(0);
      List<Integer> group = together(missing);
      if (group.size() > 1) {
        int busy = hand.takeTogether(group, each(quickly()));
        if (busy < 0) {
          continue;
        }
        next = busy;
        hand.giveBackAfter(next);
      } else if (hand.hasAfter(next)) {
        if (hand.take(next, once(next))) {
          continue;
        }
        hand.giveBackAfter(next);
      }
      long wait = hand.isEmpty() ? leftNanos() : Math.min(leftNanos(), inHandNanos);
      if (!hand.take(next, wait > 0 ? each(wait) : once(next))) {
        busyPlace = next;
        return false;
      }
    }
  }

  /** Waits for what was waited for in vain before; nothing that others want is in hand. */
  private boolean takeBusyFirst() throws InterruptedException {
    int place = busyPlace;
    busyPlace = -1;
    long left = leftNanos();
    return place < 0
        || !hand.missing().contains(place)
        || hand.take(place, left > 0 ? each(left) : once(place));
  }

  /** The first that is missing, and all that can be taken with it in one round trip. */
  private List<Integer> together(List<Integer> missing) {
    LeaseSource first = members.get(missing.get(0));
    return missing.stream().filter(i -> first.joins(members.get(i))).toList();
  }

  /** An attempt of many at once does not wait, but has as much time for its answer. */
  private long quickly() {
    return terms.waitNanos() == 0 ? 0 : Math.max(1, leftNanos());
  }

  /** An attempt at one does not wait, and has no more time for its answer than there is left. */
  private LeaseTerms once(int place) {
    long timeout = members.get(place).options().commandTimeout().toNanos();
    return each(terms.waitNanos() == 0 || leftNanos() > timeout ? 0 : 1);
  }

  private LeaseTerms each(long waitNanos) {
    long wait =
        terms.isUnbounded() && waitNanos > MOST_IN_HAND_NANOS ? LeaseTerms.FOREVER : waitNanos;
    return terms.waiting(wait);
  }

  /** All are in hand: one lease, and one token, of them. */
  private OwnedLease joint() {
    List<OwnedLease> leases = hand.leases();
    long token = CompositeLease.commonToken(leases);
    boolean held = LeaseGroup.raiseTokens(leases, token);
    lengthen(leases);
    if (!held || !leases.stream().allMatch(OwnedLease::isValid)) {
      throw new LockException(
          Reason.UNREACHABLE,
          "lock '%s': a member was lost before the others had been taken; give a longer lease than"
                  .formatted(source.name())
              + " %d ms".formatted(terms.leaseMillis()),
          null);
    }
    return new MultiLease(source, leases, token, owner, terms.renewed(), taking);
  }

  /** A lease of the caller's begins now, also for the members that were taken first. */
  private void lengthen(List<OwnedLease> leases) {
    if (!terms.renewed()) {
      long enough = TimeUnit.MILLISECONDS.toNanos(terms.leaseMillis()) / 10 * 9;
      for (OwnedLease lease : leases) {
        if (lease.remaining().toNanos() < enough) {
          lease.extendTo(terms);
        }
      }
    }
  }

  // ---- time

  private long leftNanos() {
    return terms.isUnbounded()
        ? LeaseTerms.FOREVER / 2
        : terms.waitNanos() - (System.nanoTime() - startNanos);
  }

  /** A random time, so that those who were in each other's way do not come back together. */
  private void pause() throws InterruptedException {
    long most = Math.min(MOST_PAUSE_NANOS, Math.max(1, leftNanos()));
    long endNanos = System.nanoTime() + ThreadLocalRandom.current().nextLong(most);
    while (true) {
      try {
        TimeUnit.NANOSECONDS.sleep(endNanos - System.nanoTime());
        return;
      } catch (InterruptedException e) {
        if (terms.interruptible()) {
          throw e;
        }
        interrupted = true;
      }
    }
  }
}
