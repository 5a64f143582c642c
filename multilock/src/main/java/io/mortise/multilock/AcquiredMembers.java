package io.mortise.multilock;

import io.mortise.core.composite.LeaseGroup;
import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The members that an acquisition holds, each by its place in the order.
 *
 * <p><b>Threads.</b> Confined to the thread of its {@link MultiAcquisition}.
 */
final class AcquiredMembers {
  private final List<LeaseSource> members;
  private final MemberMode mode;
  private final LeaseGroup.Releaser releaser;
  private final @Nullable OwnedLease[] leases;

  /** Members that the thread held before; releasing them would free nothing. */
  private final BitSet heldBefore = new BitSet();

  /**
   * @param releaser releases members in the time that the acquisition has
   */
  AcquiredMembers(List<LeaseSource> members, MemberMode mode, LeaseGroup.Releaser releaser) {
    this.members = members;
    this.mode = mode;
    this.releaser = releaser;
    this.leases = new @Nullable OwnedLease[members.size()];
  }

  void acquireHeldByThread(LeaseTerms terms) throws InterruptedException {
    for (int i = 0; i < leases.length; i++) {
      if (mode.isHeldByThread(members.get(i)) && acquire(i, terms)) {
        heldBefore.set(i);
      }
    }
  }

  boolean acquire(int place, LeaseTerms terms) throws InterruptedException {
    LeaseSource member = members.get(place);
    leases[place] = mode.acquire(member, terms.withOptions(member.options()));
    return leases[place] != null;
  }

  /** Returns the place of the first member that is busy; -1 when all were acquired. */
  int acquireTogether(List<Integer> places, LeaseTerms terms) throws InterruptedException {
    List<LeaseSource> together = places.stream().map(members::get).toList();
    GroupAttemptResult outcome =
        mode.acquireTogether(together, terms.withOptions(together.get(0).options()));
    if (outcome instanceof GroupAttemptResult.Acquired acquired) {
      for (int i = 0; i < places.size(); i++) {
        leases[places.get(i)] = acquired.leases().get(i);
      }
      return -1;
    }
    return places.get(((GroupAttemptResult.Busy) outcome).index());
  }

  List<Integer> missing() {
    return IntStream.range(0, leases.length).filter(i -> leases[i] == null).boxed().toList();
  }

  /** Returns whether no other client can be waiting for a member because of this acquisition. */
  boolean isEmpty() {
    return IntStream.range(0, leases.length).allMatch(i -> leases[i] == null || heldBefore.get(i));
  }

  /** Returns whether a member behind that place in the order is held by this acquisition. */
  boolean holdsAfter(int place) {
    return IntStream.range(place + 1, leases.length)
        .anyMatch(i -> leases[i] != null && !heldBefore.get(i));
  }

  List<OwnedLease> leases() {
    return Arrays.stream(leases).filter(Objects::nonNull).map(Objects::requireNonNull).toList();
  }

  /** Returns the largest token that the thread had before this acquisition; 0 if it had none. */
  long usedToken() {
    return heldBefore.stream()
        .mapToLong(i -> Objects.requireNonNull(leases[i]).fencingToken())
        .max()
        .orElse(0);
  }

  List<RuntimeException> releaseAll() {
    heldBefore.clear();
    return releaseFrom(0);
  }

  /** Releases the members behind that place in the order. */
  void releaseAfter(int place) {
    releaseFrom(place + 1);
  }

  private List<RuntimeException> releaseFrom(int first) {
    List<LeaseSource> from = List.of();
    List<OwnedLease> held = List.of();
    try {
      int[] places =
          IntStream.range(first, leases.length)
              .filter(i -> leases[i] != null && !heldBefore.get(i))
              .toArray();
      from = Arrays.stream(places).mapToObj(members::get).toList();
      held = Arrays.stream(places).mapToObj(i -> Objects.requireNonNull(leases[i])).toList();
    } catch (Throwable e) {
      abandonFrom(first);
      throw e;
    }
    for (int i = first; i < leases.length; i++) {
      if (!heldBefore.get(i)) {
        leases[i] = null;
      }
    }
    return held.isEmpty() ? List.of() : mode.release(from, held, releaser);
  }

  /** Gives the members up without memory. */
  private void abandonFrom(int place) {
    if (place < leases.length) {
      try {
        OwnedLease lease = leases[place];
        if (lease != null && !heldBefore.get(place)) {
          leases[place] = null;
          mode.abandon(members.get(place), lease);
        }
      } finally {
        abandonFrom(place + 1);
      }
    }
  }
}
