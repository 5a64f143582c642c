package io.mortise.red;

import io.mortise.core.LockException;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.Terms;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
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
 * <p><b>Threads.</b> For each place at most one attempt is scheduled or under way; the places stand
 * under the lock here, and nothing is sent under it. An attempt runs on a thread of the node's
 * client; the end of the hold interrupts it. One that is granted after that gives back what it got,
 * because the hold refuses it.
 *
 * <p>An attempt waits for a moment: those who wait for the lock may have the node in turn, without
 * a majority, and one that only looked from time to time would hardly ever find it free.
 */
final class Retaking {
  private static final Logger LOG = LoggerFactory.getLogger(RedLock.class);
  private static final long MOST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final int MOST_DOUBLINGS = 10;

  private final RedSource source;
  private final @Nullable Thread owner;
  private final long firstPauseNanos;
  private final long beganNanos = System.nanoTime();
  private final ReentrantLock lock = new ReentrantLock();

  // All guarded by lock.
  private final Place[] places;
  private boolean ended;

  /** Whether the hold is renewed, as it was asked for last. */
  private volatile boolean renewed;

  private @Nullable QuorumHold hold;

  /** One node, and what is done about it. */
  private static final class Place {
    boolean busy;
    boolean givenUp;
    int attempts;
    @Nullable Thread asking;
    Runnable cancel = () -> {};
  }

  /**
   * @param terms those of the hold
   * @param firstPauseNanos how long to wait before the first attempt; then twice as long each time
   */
  Retaking(RedSource source, Terms terms, @Nullable Thread owner, long firstPauseNanos) {
    this.source = source;
    this.renewed = terms.renewed();
    this.owner = owner;
    this.firstPauseNanos = firstPauseNanos;
    this.places = new Place[source.members().size()];
    for (int i = 0; i < places.length; i++) {
      places[i] = new Place();
    }
  }

  /** For that hold; before anything else. */
  void begin(QuorumHold newHold) {
    hold = newHold;
  }

  /** The hold is asked to last longer, or to be renewed. */
  void need(Terms terms) {
    renewed |= terms.renewed();
  }

  void renewWhile(boolean wanted) {
    renewed = wanted;
  }

  /** A place is empty, or has a lost lease in it; whether that is news. */
  boolean miss(int place) {
    return guarded(
        () -> {
          Place missed = places[place];
          boolean news = !missed.busy && !missed.givenUp;
          if (news) {
            schedule(place, missed);
          }
          return news;
        });
  }

  /** A place is taken. */
  void taken(int place) {
    guarded(
        () -> {
          Place taken = places[place];
          taken.attempts = 0;
          taken.cancel.run();
          taken.busy = false;
          return true;
        });
  }

  /** A place is not to be taken again. */
  void giveUp(int place) {
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
          return true;
        });
  }

  private boolean guarded(BooleanSupplier change) {
    lock.lock();
    try {
      return change.getAsBoolean();
    } finally {
      lock.unlock();
    }
  }

  private void schedule(int place, Place missed) {
    missed.busy = false;
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
    QuorumHold taker = Objects.requireNonNull(hold, "begin() comes first");
    boolean settled = false;
    try {
      OwnedLease before = taker.leaseAt(place);
      settled = before != null && before.isValid(); // somebody was quicker: a late grant
      if (!settled && taker.isValid() && mayLast()) {
        Optional<OwnedLease> lease = ask(taker, source.member(place), missed);
        settled = lease.isPresent() && taker.joinLate(place, before, lease.get());
        if (settled) {
          LOG.info("lock '{}': {} has been taken again", source.name(), source.member(place));
        }
      }
    } catch (RuntimeException e) {
      LOG.warn("lock '{}': {} cannot be taken", source.name(), source.member(place), e);
    } finally {
      boolean done = settled;
      guarded(
          () -> {
            if (!done) {
              schedule(place, missed);
            }
            return done;
          });
    }
  }

  private Optional<OwnedLease> ask(QuorumHold taker, Member member, Place missed) {
    if (member.isSilent() || member.isOut() || !begins(missed)) {
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
    return guarded(
        () -> {
          missed.asking = ended ? null : Thread.currentThread();
          return !ended;
        });
  }

  /** A node that answers is there, and will be free soon: the next attempt follows soon. */
  private void ends(Place missed, boolean answered) {
    guarded(
        () -> {
          missed.asking = null;
          missed.attempts = answered ? Math.min(missed.attempts, 1) : missed.attempts;
          return answered;
        });
    Thread.interrupted(); // one that came too late is nobody else's
  }

  /** What is not renewed ends with the hold. */
  private Terms lasting(QuorumHold taker) {
    return renewed ? lasting() : ending(taker);
  }

  private Terms lasting() {
    return Terms.of(source.options(), Duration.ofNanos(firstPauseNanos), null, true);
  }

  private Terms ending(QuorumHold taker) {
    return new Terms(firstPauseNanos, Math.max(1, taker.remaining().toMillis()), false, true);
  }

  /** Gives a lease that joins late what has been asked of the hold since it was asked for. */
  void adapt(OwnedLease lease) {
    if (renewed) {
      lease.need(lasting());
    } else {
      lease.renewWhile(false);
    }
  }
}
