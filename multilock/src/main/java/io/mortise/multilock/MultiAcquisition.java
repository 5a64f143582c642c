package io.mortise.multilock;

import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.composite.CommonToken;
import io.mortise.core.composite.LeaseGroup;
import io.mortise.core.spi.CallerWait;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One acquisition of all members, or none.
 *
 * <pre>
 *   round: members of one round trip are tried together <------------------------------------+
 *            |-- all free ----------------------------------------> acquired                 |
 *            +-- one is busy: release the members behind it in the order, wait for that      |
 *                |            one alone, then try the rest together                          |
 *                +-- not in time: release all, pause, wait for that one while holding none --+
 * </pre>
 *
 * <p><b>Deadlocks.</b> A waiter holds only members that come before the one it waits for, in an
 * order that all processes share. Acquisitions of this kind therefore cannot wait for each other in
 * a cycle. Threads that lock the members separately can; therefore a wait while holding members is
 * bounded ({@link HoldingWait}): mostly short, to resolve such a circle soon, and sometimes long,
 * to outlast a queue. Each round in which a server does not answer in time doubles the shortest of
 * the later waits. After the wait the acquisition waits first for the member that was busy, while
 * holding none. If all acquisitions began at the first member again, they would acquire it in turn,
 * and a thread that holds the busy member and waits for the first would rarely get it.
 *
 * <p><b>Failures.</b> An interrupt is thrown by the member that waits, or checked in the pause.
 * Before an exception of any member is thrown, all acquired members are released; failures of that
 * release are suppressed in it. A lost reply is handled by the member. A member that is lost during
 * the wait for others is detected when all are acquired, and the round counts as failed.
 *
 * <p><b>Threads.</b> Confined to the thread that waits.
 */
final class MultiAcquisition {
  private static final Logger LOG = LoggerFactory.getLogger(MultiAcquisition.class);
  private static final long MAX_PAUSE_NANOS = 50_000_000L;

  private final LeaseSource source;
  private final List<LeaseSource> members;
  private final LeaseTerms terms;
  private final @Nullable Thread owner;
  private final MemberMode mode;
  private final AcquiredMembers acquired;
  private final CallerWait wait;

  private int rounds; // that have failed
  private int slowRounds; // those of them in which a server did not answer in time
  private @Nullable LockException lost; // the failure of the last round that lost a member
  private int busyPlace = -1; // the member that stayed busy while others were held; -1 for none
  private boolean busySeen; // whether another owner was seen to hold a member
  private long roundNanos; // when the last round began
  private long stepNanos; // when the last step began

  /** The members are in the order in which all processes acquire them; the wait has begun. */
  MultiAcquisition(
      LeaseSource source,
      List<LeaseSource> members,
      LeaseTerms terms,
      CallerWait wait,
      @Nullable Thread owner,
      MemberMode mode) {
    this.source = source;
    this.members = members;
    this.terms = terms.withoutMinimum(); // it is that of the whole
    this.wait = wait;
    this.owner = owner;
    this.mode = mode;
    this.acquired = new AcquiredMembers(members, mode, LeaseGroup.releaser(terms, wait::leftNanos));
  }

  Optional<OwnedLease> run() throws InterruptedException {
    try {
      return tryUntilDone();
    } catch (InterruptedException | RuntimeException | Error e) {
      acquired.releaseAll().forEach(e::addSuppressed);
      throw e;
    } finally {
      wait.restoreInterrupt();
    }
  }

  private Optional<OwnedLease> tryUntilDone() throws InterruptedException {
    long failingNanos = 0;
    LockException failure = null;
    while (true) {
      roundNanos = source.nanoTime();
      try {
        if (round()) {
          return Optional.of(toLease());
        }
        failure = null;
        failingNanos = 0;
      } catch (LockException e) {
        failingNanos += source.nanoTime() - stepNanos;
        failure = e;
        if (!e.reason().isTransient()
            || wait.leftNanos() <= 0
            || exceedsOutageTimeout(failingNanos)) {
          throw e;
        }
        if (e != lost) {
          slowRounds++;
        }
      }
      for (RuntimeException e : acquired.releaseAll()) {
        LOG.debug("lock '{}': a member could not be released", source.name(), e);
      }
      if (wait.leftNanos() <= 0) {
        if (failure != null) {
          throw failure;
        }
        return Optional.empty();
      }
      long pausedNanos = source.nanoTime();
      if (failure != null || holdingWaitNanos() > 0) {
        pause();
      }
      failingNanos += failure == null ? 0 : source.nanoTime() - pausedNanos;
      rounds++;
    }
  }

  /**
   * Returns whether the steps that failed, and the pauses after them, took longer than the shortest
   * outage timeout of the members. The wait for a busy member in between does not count.
   */
  private boolean exceedsOutageTimeout(long failingNanos) {
    return terms.isUnbounded()
        && members.stream().anyMatch(m -> failingNanos >= m.options().outageTimeout().toNanos());
  }

  // ---- one round

  /** Runs one round; returns false when another owner holds one of the members. */
  private boolean round() throws InterruptedException {
    stepNanos = source.nanoTime();
    acquired.acquireHeldByThread(termsFor(replyTimeoutNanos()));
    if (!acquireBusyFirst()) {
      return false;
    }
    while (true) {
      List<Integer> missing = acquired.missing();
      if (missing.isEmpty()) {
        return true;
      }
      if (isTimeUp()) {
        if (busySeen) {
          return false;
        }
        throw failure(
            "its wait of %d ms was over before all members were asked; wait longer"
                .formatted(TimeUnit.NANOSECONDS.toMillis(terms.waitNanos())),
            null);
      }
      int next = missing.get(0);
      List<Integer> group = groupOfFirst(missing);
      if (group.size() > 1) {
        stepNanos = source.nanoTime();
        int busy = acquired.acquireTogether(group, termsFor(replyTimeoutNanos()));
        if (busy < 0) {
          continue;
        }
        next = busy;
        busySeen = true;
        acquired.releaseAfter(next);
      } else if (acquired.holdsAfter(next)) {
        if (acquire(next, singleAttemptTerms(next))) {
          continue;
        }
        acquired.releaseAfter(next);
      }
      long left = wait.leftNanos();
      long maxWait = acquired.isEmpty() ? left : Math.min(left, holdingWaitNanos());
      if (!acquire(next, maxWait > 0 ? termsFor(maxWait) : singleAttemptTerms(next))) {
        busyPlace = next;
        busySeen = true;
        return false;
      }
    }
  }

  /** Returns whether no other member may be asked; a step of a RedLock may take longer. */
  private boolean isTimeUp() {
    return wait.isTimeUp() && members.stream().allMatch(member -> member.deployments().size() == 1);
  }

  /**
   * Returns how long this round may wait while it holds members: at most half of a lease that is
   * not renewed, or the members would be lost when the wait ends.
   */
  private long holdingWaitNanos() {
    long nanos =
        Math.max(HoldingWait.nanosAfter(rounds), HoldingWait.shortestNanosAfter(slowRounds));
    long half = TimeUnit.MILLISECONDS.toNanos(terms.leaseMillis()) / 2;
    return terms.renewed() ? nanos : Math.min(nanos, half);
  }

  private boolean acquire(int place, LeaseTerms memberTerms) throws InterruptedException {
    stepNanos = source.nanoTime();
    return acquired.acquire(place, memberTerms);
  }

  /** Waits for the member that stayed busy before, while holding none that others may want. */
  private boolean acquireBusyFirst() throws InterruptedException {
    int place = busyPlace;
    busyPlace = -1;
    long left = wait.leftNanos();
    return place < 0
        || !acquired.missing().contains(place)
        || acquire(place, left > 0 ? termsFor(left) : singleAttemptTerms(place));
  }

  /** Returns the first missing member, and all that one round trip can acquire with it. */
  private List<Integer> groupOfFirst(List<Integer> missing) {
    LeaseSource first = members.get(missing.get(0));
    return missing.stream().filter(i -> first.canAcquireTogetherWith(members.get(i))).toList();
  }

  /** Returns the reply timeout of a step that does not wait, as the wait of its terms. */
  private long replyTimeoutNanos() {
    return terms.waitNanos() == 0 ? 0 : Math.max(1, wait.leftNanos());
  }

  /** Returns the terms of one attempt, whose reply may take at most the time that is left. */
  private LeaseTerms singleAttemptTerms(int place) {
    long timeout = members.get(place).options().commandTimeout().toNanos();
    return termsFor(terms.waitNanos() == 0 || wait.leftNanos() > timeout ? 0 : 1);
  }

  private LeaseTerms termsFor(long waitNanos) {
    boolean unbounded = terms.isUnbounded() && waitNanos > HoldingWait.MAX_NANOS;
    return terms.waiting(unbounded ? LeaseTerms.FOREVER : waitNanos);
  }

  /** Makes one lease with one token of all members. */
  private OwnedLease toLease() {
    stepNanos = source.nanoTime();
    List<OwnedLease> leases = acquired.leases();
    long token = CommonToken.of(leases, acquired.usedToken());
    if (!LeaseGroup.raiseTokens(leases, token, terms, wait::leftNanos)) {
      throw memberLost(null);
    }
    try {
      extendToLease(leases);
    } catch (LeaseLostException e) {
      throw memberLost(e);
    }
    if (!leases.stream().allMatch(OwnedLease::isValid)) {
      throw memberLost(null);
    }
    wait.restoreInterrupt(); // before there is a hold: a thread may refuse it
    return new MultiLease(source, members, leases, token, owner, terms.renewed(), mode, roundNanos);
  }

  private LockException memberLost(@Nullable LeaseLostException cause) {
    lost =
        failure(
            "a member was lost before the others were acquired; give a longer lease than %d ms"
                .formatted(terms.leaseMillis()),
            cause);
    return lost;
  }

  /** Returns a failure of the acquisition itself: the caller does not have the lock yet. */
  private LockException failure(String fact, @Nullable LeaseLostException cause) {
    return new LockException(
        Reason.UNREACHABLE, "lock '%s': %s".formatted(source.name(), fact), cause);
  }

  /** Starts the caller's lease now, also for the members that were acquired first. */
  private void extendToLease(List<OwnedLease> leases) {
    if (terms.renewed()) {
      return;
    }
    long toleratedNanos = TimeUnit.MILLISECONDS.toNanos(terms.leaseMillis()) / 10 * 9;
    for (OwnedLease lease : leases) {
      if (lease.remaining().toNanos() < toleratedNanos) {
        lease.extendTo(termsFor(replyTimeoutNanos()));
      }
    }
  }

  /** Pauses for a random time, so that clients that collided do not retry together. */
  private void pause() throws InterruptedException {
    long maxPause = Math.min(MAX_PAUSE_NANOS, Math.max(1, wait.leftNanos()));
    wait.pause((long) (source.random() * maxPause));
  }
}
