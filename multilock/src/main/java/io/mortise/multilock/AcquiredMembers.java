package io.mortise.multilock;

import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** What an acquisition has of the members, each by its place in the order. */
final class AcquiredMembers {
  private final List<LeaseSource> members;
  private final MemberMode taking;
  private final @Nullable OwnedLease[] leases;

  /** What the thread held before: to give it back would free nothing. */
  private final BitSet owned = new BitSet();

  AcquiredMembers(List<LeaseSource> members, MemberMode taking) {
    this.members = members;
    this.taking = taking;
    this.leases = new @Nullable OwnedLease[members.size()];
  }

  void takeWhatIsOwned(LeaseTerms terms) throws InterruptedException {
    for (int i = 0; i < leases.length; i++) {
      if (taking.isOwned(members.get(i)) && take(i, terms)) {
        owned.set(i);
      }
    }
  }

  boolean take(int place, LeaseTerms terms) throws InterruptedException {
    LeaseSource member = members.get(place);
    leases[place] = taking.take(member, terms.withOptions(member.options()));
    return leases[place] != null;
  }

  /** The place of the first that is busy; -1 when all are taken. */
  int takeTogether(List<Integer> places, LeaseTerms terms) throws InterruptedException {
    List<LeaseSource> together = places.stream().map(members::get).toList();
    GroupAttemptResult outcome =
        taking.takeAll(together, terms.withOptions(together.get(0).options()));
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

  /** Whether there is nothing that others could wait for because of this acquisition. */
  boolean isEmpty() {
    return IntStream.range(0, leases.length).allMatch(i -> leases[i] == null || owned.get(i));
  }

  /** Whether anything is in hand that stands behind that place in the order. */
  boolean hasAfter(int place) {
    return IntStream.range(place + 1, leases.length)
        .anyMatch(i -> leases[i] != null && !owned.get(i));
  }

  List<OwnedLease> leases() {
    return Arrays.stream(leases).filter(Objects::nonNull).map(Objects::requireNonNull).toList();
  }

  List<RuntimeException> giveBackAll() {
    owned.clear();
    return giveBackFrom(0);
  }

  /** Gives back what stands behind that place in the order. */
  void giveBackAfter(int place) {
    giveBackFrom(place + 1);
  }

  private List<RuntimeException> giveBackFrom(int first) {
    List<LeaseSource> from = new ArrayList<>();
    List<OwnedLease> held = new ArrayList<>();
    for (int i = first; i < leases.length; i++) {
      OwnedLease lease = leases[i];
      if (lease != null && !owned.get(i)) {
        from.add(members.get(i));
        held.add(lease);
        leases[i] = null;
      }
    }
    return held.isEmpty() ? List.of() : taking.release(from, held);
  }
}
