package io.mortise.core.composite;

import io.mortise.core.Lease.State;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The holds of which a joint hold is made, each in its place, and how many of them stand.
 *
 * <p><b>Threads.</b> Any thread looks. Who puts a member into a place by compare-and-set owns that
 * change; one joins at a time.
 */
final class CompositeMembers {
  private final int required;
  private final AtomicReferenceArray<@Nullable OwnedLease> places;

  /** Those that count: who joins does when it was found to have come in time. */
  private final AtomicReferenceArray<@Nullable OwnedLease> counted;

  /** One joins at a time. */
  private final ReentrantLock joining = new ReentrantLock();

  /**
   * How they stand at one moment.
   *
   * @param valid how many are held, on time or not
   * @param onTime how many are held, and on time
   */
  record Count(int valid, int onTime) {}

  /**
   * Members of which all count.
   *
   * @param required how many of them have to stand
   * @param members a place for each; null where there is none yet
   */
  CompositeMembers(int required, List<? extends @Nullable OwnedLease> members) {
    this.required = required;
    this.places = new AtomicReferenceArray<>(members.size());
    this.counted = new AtomicReferenceArray<>(members.size());
    for (int i = 0; i < members.size(); i++) {
      this.places.set(i, members.get(i));
      this.counted.set(i, members.get(i));
    }
  }

  int places() {
    return places.length();
  }

  int required() {
    return required;
  }

  @Nullable OwnedLease at(int place) {
    return places.get(place);
  }

  /** All that are there, lost or not. */
  List<OwnedLease> all() {
    return there(places);
  }

  private static List<OwnedLease> there(AtomicReferenceArray<@Nullable OwnedLease> places) {
    List<OwnedLease> there = new ArrayList<>(places.length());
    for (int i = 0; i < places.length(); i++) {
      OwnedLease member = places.get(i);
      if (member != null) {
        there.add(member);
      }
    }
    return there;
  }

  /** How many of those that count stand now. */
  Count count() {
    int valid = 0;
    int onTime = 0;
    for (OwnedLease member : there(counted)) {
      State is = member.state();
      onTime += is == State.HELD ? 1 : 0;
      valid += is == State.HELD || is == State.AT_RISK ? 1 : 0;
    }
    return new Count(valid, onTime);
  }

  /** How long enough of them are sure to stand: the weakest of the strongest {@code required}. */
  Duration remaining() {
    return there(counted).stream()
        .map(OwnedLease::remaining)
        .sorted(Comparator.reverseOrder())
        .skip(required - 1L)
        .findFirst()
        .orElse(Duration.ZERO);
  }

  /**
   * Puts a member into a place, instead of the one that is expected there.
   *
   * <p>A majority that is over is not made whole, seen or unseen: others may have had the lock
   * meanwhile. So enough of the others must be valid <em>after</em> the member stands in its place:
   * what is valid then has been valid all the time before. Until then it counts for nobody, and one
   * joins after the other.
   *
   * @param live whether the whole has not ended
   * @param refused what to do when the member had to be taken out again
   * @return false when the hold has ended or the place has changed: the caller keeps the member
   */
  boolean join(
      int place,
      @Nullable OwnedLease expected,
      OwnedLease member,
      BooleanSupplier live,
      Runnable refused) {
    joining.lock();
    try {
      if (!live.getAsBoolean() || !places.compareAndSet(place, expected, member)) {
        return false;
      }
      // Whoever ended the hold before this look may not have seen the member; after it, he has.
      if (validBeside(member) >= required) {
        counted.set(place, member);
      }
      boolean stands = counted.get(place) == member && live.getAsBoolean();
      if (!stands && places.compareAndSet(place, member, expected)) {
        refused.run();
        return false;
      }
      return true;
    } finally {
      joining.unlock();
    }
  }

  private long validBeside(OwnedLease member) {
    return all().stream().filter(other -> other != member && other.isValid()).count();
  }
}
