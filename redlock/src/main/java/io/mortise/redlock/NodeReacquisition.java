package io.mortise.redlock;

import io.mortise.core.LockException;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the nodes again that a hold does not have: they were dead when it began, or restarted
 * empty, or were cut off. While a majority stands, nobody else can have the others, so taking them
 * is safe; without it a hold would wear down over restarts.
 *
 * <p>Nothing is taken again for a thread that has died, for a hold that has lasted its longest
 * time, or on a node where the lock was taken by force: those are to end.
 *
 * <p><b>A place that is not filled always has somebody who works on it</b>: an attempt is scheduled
 * or under way, unless the hold has ended or the place is given up. Whoever sees or makes a place
 * empty says so by {@link #scheduleFor}, after the fact, and either begins to work on it or finds
 * somebody who does. Whoever stops working on a place says so first, and looks at the place after
 * that: a loss in between is seen by one of the two.
 *
 * <p><b>Threads.</b> The places stand under the lock here; nothing is sent under it, and no lease
 * is looked at. An attempt runs on a thread of the node's client; the end of the hold interrupts
 * it. One that is granted after that gives back what it got, because the hold refuses it.
 *
 * <p>An attempt waits for a moment: those who wait for the lock may have the node in turn, without
 * a majority, and one that only looked from time to time would hardly ever find it free.
 */
final class NodeReacquisition {
  private static final Logger LOG = LoggerFactory.getLogger(NodeReacquisition.class);
  private static final long MOST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final int MOST_DOUBLINGS = 10;

  private final QuorumLeaseSource source;
  private final @Nullable Thread owner;
  private final long firstPauseNanos;
  private final long beganNanos = System.nanoTime();
  private final ReentrantLock lock = new ReentrantLock();

  // All guarded by lock.
  private final Place[] places;
  private boolean ended;

  private @Nullable MajorityLease hold;

  /** One node, and what is done about it. */
  private static final class Place {
    /** Whether an attempt is scheduled or under way. */
    boolean busy;

    boolean givenUp;
    int attempts;
    @Nullable Thread asking;
    Runnable cancel = () -> {};
  }

  /**
   * @param firstPauseNanos how long to wait before the first attempt; then twice as long each time
   */
  NodeReacquisition(QuorumLeaseSource source, @Nullable Thread owner, long firstPauseNanos) {
    this.source = source;
    this.owner = owner;
    this.firstPauseNanos = firstPauseNanos;
    this.places = new Place[source.members().size()];
    for (int i = 0; i < places.length; i++) {
      places[i] = new Place();
    }
  }

  /** For that hold; before anything else. */
  void begin(MajorityLease newHold) {
    hold = newHold;
  }

  /** A place is empty, or has a lost lease in it. */
  void scheduleFor(int place) {
    guarded(
        () -> {
          Place missed = places[place];
          if (!missed.busy) {
            schedule(place, missed);
          }
        });
  }

  /** A lease has come into a place, or was refused there. */
  void look(int place) {
    OwnedLease lease = hold().leaseAt(place);
    if (lease == null || !lease.isValid()) {
      scheduleFor(place);
    }
  }

  /** A place is not to be taken again. */
  void exclude(int place) {
    guarded(() -> places[place].givenUp = true);
  }

  /** The hold has ended. */
  void end() {
    guarded(
        () -> {
          ended = true;
          for (Place place : places) {
            place.cancel.run();
            if (place.asking != null) {
              place.asking.interrupt();
            }
          }
        });
  }

  private MajorityLease hold() {
    return Objects.requireNonNull(hold, "begin() comes first");
  }

  private void guarded(Runnable change) {
    lock.lock();
    try {
      change.run();
    } finally {
      lock.unlock();
    }
  }

  private void schedule(int place, Place missed) {
    if (ended || missed.givenUp || !mayLast()) {
      return;
    }
    long pause =
        Math.min(MOST_PAUSE_NANOS, firstPauseNanos << Math.min(MOST_DOUBLINGS, missed.attempts++));
    long jittered = pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2 + 1);
    try {
      missed.cancel =
          source.member(place).source().schedule(() -> attempt(place, missed), jittered);
      missed.busy = true;
    } catch (RejectedExecutionException closed) {
      LOG.debug("lock '{}': {} is not taken again", source.name(), source.member(place), closed);
    }
  }

  private boolean mayLast() {
    return (owner == null || owner.isAlive())
        && System.nanoTime() - beganNanos < source.options().maxHold().toNanos();
  }

  private void attempt(int place, Place missed) {
    MajorityLease taker = hold();
    try {
      OwnedLease before = taker.leaseAt(place);
      boolean filled = before != null && before.isValid(); // by a late grant
      if (!filled && taker.isValid() && mayLast()) {
        Optional<OwnedLease> lease = ask(taker, source.member(place), missed);
        filled = lease.isPresent() && taker.addMember(place, before, lease.get());
        if (filled) {
          LOG.debug("lock '{}': {} has been taken again", source.name(), source.member(place));
        }
      }
      if (filled) {
        guarded(() -> missed.attempts = 0);
      }
    } catch (RuntimeException e) {
      LOG.warn("lock '{}': {} cannot be taken", source.name(), source.member(place), e);
    } finally {
      guarded(() -> missed.busy = false);
      look(place);
    }
  }

  private Optional<OwnedLease> ask(MajorityLease taker, QuorumMember member, Place missed) {
    if (member.isDoubtful() || !begins(missed)) {
      return Optional.empty();
    }
    member.unawaited().incrementAndGet();
    boolean answered = false;
    try {
      Optional<OwnedLease> lease = member.acquire(lasting(taker), owner);
      answered = true;
      return lease;
    } catch (LockException e) {
      LOG.debug("lock '{}': {} cannot be taken yet", source.name(), member, e);
      return Optional.empty();
    } catch (InterruptedException e) { // the hold has ended
      return Optional.empty();
    } finally {
      member.unawaited().decrementAndGet();
      ends(missed, answered);
    }
  }

  /** From here on the end of the hold interrupts the attempt. */
  private boolean begins(Place missed) {
    lock.lock();
    try {
      missed.asking = ended ? null : Thread.currentThread();
      return !ended;
    } finally {
      lock.unlock();
    }
  }

  /** A node that answers is there, and will be free soon: the next attempt follows soon. */
  private void ends(Place missed, boolean answered) {
    guarded(
        () -> {
          missed.asking = null;
          missed.attempts = answered ? Math.min(missed.attempts, 1) : missed.attempts;
        });
    Thread.interrupted(); // one that came too late is nobody else's
  }

  /** What is not renewed ends with the hold. */
  private LeaseTerms lasting(MajorityLease taker) {
    return taker.isRenewed() ? lasting() : ending(taker);
  }

  /** Those of a lease that is renewed. */
  LeaseTerms lasting() {
    return LeaseTerms.of(source.options(), Duration.ofNanos(firstPauseNanos), null, true);
  }

  private LeaseTerms ending(MajorityLease taker) {
    return new LeaseTerms(firstPauseNanos, Math.max(1, taker.remaining().toMillis()), false, true);
  }
}
