package io.mortise.red;

import io.mortise.core.LockException;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.Terms;
import java.util.Objects;
import java.util.Optional;
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
 * <p><b>Threads.</b> For each place at most one attempt is scheduled or under way; the places stand
 * under the lock here. An attempt runs on a thread of the node's client; the end of the hold
 * interrupts it. One that is granted after that gives back what it got, because the hold refuses
 * it.
 *
 * <p>An attempt waits for a moment: those who wait for the lock may have the node in turn, without
 * a majority, and one that only looked from time to time would hardly ever find it free.
 */
final class Retaking {
  private static final Logger LOG = LoggerFactory.getLogger(RedLock.class);
  private static final long MOST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final int MOST_DOUBLINGS = 10;

  private final RedSource source;
  private final Terms terms;
  private final @Nullable Thread owner;
  private final long firstPauseNanos;
  private final ReentrantLock lock = new ReentrantLock();

  // All guarded by lock.
  private final Place[] places;
  private boolean ended;

  private @Nullable QuorumHold hold;

  /** One node, and what is done about it. */
  private static final class Place {
    boolean busy;
    int attempts;
    @Nullable Thread asking;
    @Nullable OwnedLease lost;
    Runnable cancel = () -> {};
  }

  /**
   * @param terms those of the hold
   * @param firstPauseNanos how long to wait before the first attempt; then twice as long each time
   */
  Retaking(RedSource source, Terms terms, @Nullable Thread owner, long firstPauseNanos) {
    this.source = source;
    this.terms = terms.waiting(firstPauseNanos).interruptible(true);
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

  /** A place is empty, or has a lost lease in it; whether that is news. */
  boolean miss(int place, @Nullable OwnedLease lost) {
    lock.lock();
    try {
      Place missed = places[place];
      missed.lost = lost;
      boolean news = !missed.busy;
      if (news) {
        schedule(place, missed);
      }
      return news;
    } finally {
      lock.unlock();
    }
  }

  /** A place is taken. */
  void taken(int place) {
    lock.lock();
    try {
      Place taken = places[place];
      taken.attempts = 0;
      taken.cancel.run();
      taken.busy = false;
    } finally {
      lock.unlock();
    }
  }

  /** The hold has ended. */
  void end() {
    lock.lock();
    try {
      ended = true;
      for (Place place : places) {
        place.cancel.run();
        if (place.asking != null) {
          place.asking.interrupt();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void schedule(int place, Place missed) {
    if (ended) {
      return;
    }
    long pause =
        Math.min(MOST_PAUSE_NANOS, firstPauseNanos << Math.min(MOST_DOUBLINGS, missed.attempts++));
    long jittered = pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2 + 1);
    missed.busy = true;
    missed.cancel = source.member(place).source().schedule(() -> attempt(place, missed), jittered);
  }

  private void attempt(int place, Place missed) {
    QuorumHold taker = Objects.requireNonNull(hold, "begin() comes first");
    Optional<OwnedLease> lease =
        taker.isValid() ? ask(taker, source.member(place), missed) : Optional.empty();
    OwnedLease lost;
    lock.lock();
    try {
      missed.busy = false;
      lost = missed.lost;
      if (lease.isEmpty()) {
        schedule(place, missed);
        return;
      }
    } finally {
      lock.unlock();
    }
    if (taker.joinLate(place, lost, lease.get())) {
      LOG.info("lock '{}': {} has been taken again", source.name(), source.member(place));
    }
  }

  private Optional<OwnedLease> ask(QuorumHold taker, Member member, Place missed) {
    if (member.isSilent() || !begins(missed)) {
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
    lock.lock();
    try {
      missed.asking = null;
      if (answered) {
        missed.attempts = Math.min(missed.attempts, 1);
      }
    } finally {
      lock.unlock();
    }
    Thread.interrupted(); // one that came too late is nobody else's
  }

  /** What is not renewed ends with the hold. */
  private Terms lasting(QuorumHold taker) {
    return terms.renewed()
        ? terms.under(source.options())
        : new Terms(0, Math.max(1, taker.remaining().toMillis()), false, true);
  }
}
