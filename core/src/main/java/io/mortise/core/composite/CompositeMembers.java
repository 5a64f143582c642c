package io.mortise.core.composite;

import io.mortise.connection.concurrent.OomSafeLock;
import io.mortise.core.Lease.State;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The member holds of a composite hold, each in its place, with the count of those that are valid.
 *
 * <p><b>Threads.</b> Any thread may read, without a lock. A member is put into a place by
 * compare-and-set, and the thread that succeeds owns that change. A lock lets one member join at a
 * time.
 */
final class CompositeMembers {
  private final int required;
  private final AtomicReferenceArray<@Nullable OwnedLease> places;

  /** The members that count: a joining member counts once it has proved to be in time. */
  private final AtomicReferenceArray<@Nullable OwnedLease> counted;

  /**
   * Lets one member join at a time. A lock, because a member that proves to be lost meanwhile is
   * notified of that, which may wait for a worker: on JDK 21 to 23 a virtual thread that does so in
   * a monitor keeps its carrier.
   */
  private final OomSafeLock joining = new OomSafeLock();

  /** How many members are held at one moment, and how many of these are on time. */
  record Count(int valid, int onTime) {}

  /** Creates members that all count; null for a place that has none yet. */
  CompositeMembers(int required, List<? extends @Nullable OwnedLease> members) {
    this.required = required;
    this.places = new AtomicReferenceArray<>(members.size());
    this.counted = new AtomicReferenceArray<>(members.size());
    for (int i = 0; i < members.size(); i++) {
      this.places.set(i, members.get(i));
      this.counted.set(i, members.get(i));
    }
  }

  int capacity() {
    return places.length();
  }

  int required() {
    return required;
  }

  @Nullable OwnedLease at(int place) {
    return places.get(place);
  }

  List<OwnedLease> all() {
    return present(places);
  }

  private static List<OwnedLease> present(AtomicReferenceArray<@Nullable OwnedLease> places) {
    List<OwnedLease> present = new ArrayList<>(places.length());
    for (int i = 0; i < places.length(); i++) {
      OwnedLease member = places.get(i);
      if (member != null) {
        present.add(member);
      }
    }
    return present;
  }

  /** Stops the renewal of all members, whatever one of them throws. Allocates nothing itself. */
  void stopRenewal(String why) {
    stopRenewalFrom(0, why);
  }

  private void stopRenewalFrom(int first, String why) {
    for (int place = first; place < places.length(); place++) {
      try {
        OwnedLease member = places.get(place);
        if (member != null) {
          member.stopRenewal(why);
        }
      } catch (Throwable e) {
        stopRenewalFrom(place + 1, why);
        throw e;
      }
    }
  }

  /** Has all members released in the background, whatever one of them throws. */
  void releaseInBackground() {
    releaseInBackgroundFrom(0);
  }

  private void releaseInBackgroundFrom(int first) {
    for (int place = first; place < places.length(); place++) {
      try {
        OwnedLease member = places.get(place);
        if (member != null) {
          member.releaseInBackground();
        }
      } catch (Throwable e) {
        releaseInBackgroundFrom(place + 1);
        throw e;
      }
    }
  }

  /** Returns the members that count and are valid now. */
  List<OwnedLease> valid() {
    return present(counted).stream().filter(OwnedLease::isValid).toList();
  }

  /**
   * Counts the members that are valid now. If these are too few, it reads the members again: this
   * thread may have been suspended, and have counted members that were replaced meanwhile.
   */
  Count count() {
    List<OwnedLease> read = present(counted);
    Count count = countOf(read);
    while (count.onTime() < required) {
      List<OwnedLease> now = present(counted);
      if (now.equals(read)) {
        break;
      }
      read = now;
      count = countOf(read);
    }
    return count;
  }

  private static Count countOf(List<OwnedLease> members) {
    int valid = 0;
    int onTime = 0;
    for (OwnedLease member : members) {
      State state = member.state();
      onTime += state == State.HELD ? 1 : 0;
      valid += state == State.HELD || state == State.AT_RISK ? 1 : 0;
    }
    return new Count(valid, onTime);
  }

  /**
   * Returns for how long enough members are certain to be valid: the shortest remaining time among
   * the {@code required} members that last the longest.
   */
  Duration remaining() {
    return present(counted).stream()
        .map(OwnedLease::remaining)
        .sorted(Comparator.reverseOrder())
        .skip(required - 1L)
        .findFirst()
        .orElse(Duration.ZERO);
  }

  /**
   * Puts a member into a place, instead of the one that is expected there.
   *
   * <p>A majority that has ended must not be completed, even if the end was not noticed: others may
   * have held the lock since. Therefore enough of the other members must be valid <em>after</em>
   * the new member is in its place; a member that is valid then has been valid all the time before.
   * Until then the new member does not count, and only one member joins at a time.
   *
   * @param live whether the whole hold has not ended
   * @param rejected runs after the member had to be removed again
   * @return false when the hold has ended or the place has changed: the caller keeps the member
   */
  boolean join(
      int place,
      @Nullable OwnedLease expected,
      OwnedLease member,
      BooleanSupplier live,
      Runnable rejected) {
    joining.lock();
    try {
      if (!live.getAsBoolean() || !places.compareAndSet(place, expected, member)) {
        return false;
      }
      // A thread that ended the hold before the check of `live` may not have seen the member; one
      // that ends it after the check sees it.
      if (validBeside(member) >= required) {
        counted.set(place, member);
      }
      boolean accepted = counted.get(place) == member && live.getAsBoolean();
      if (!accepted && places.compareAndSet(place, member, expected)) {
        rejected.run();
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
