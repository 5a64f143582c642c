package io.mortise.redlock;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The members of a quorum, each by its place, with the size of a majority and the time that a node
 * may take to answer.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
final class QuorumMembers {

  private static final long MAX_BUDGET_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final int LEASE_PER_BUDGET = 100;
  private static final int MIN_BUDGETS_PER_LEASE = 4;

  /** The same order in all processes, because waiters wait at the first member of it. */
  private static final Comparator<QuorumMember> ORDER =
      Comparator.comparing(QuorumMember::address).thenComparing(member -> member.source().name());

  private final List<QuorumMember> members;
  private final @Nullable Duration budget;

  /**
   * Orders the members.
   *
   * @param budget how long a node may take to answer; null for a part of the lease
   * @throws IllegalArgumentException if two are on one server, or one depends on its caller
   */
  QuorumMembers(List<QuorumMember> members, @Nullable Duration budget) {
    this.members = members.stream().sorted(ORDER).toList();
    this.budget = budget;
    refuseOneServerTwice();
    refuseThoseThatDependOnTheCaller();
  }

  private void refuseThoseThatDependOnTheCaller() {
    for (QuorumMember member : members) {
      if (member.source().dependsOnCaller()) {
        throw new IllegalArgumentException(
            "member %s is of a read-write lock, which decides by what its thread holds on the same"
                    .formatted(member)
                + " server; a quorum asks on other threads, and could wait for itself");
      }
    }
  }

  private void refuseOneServerTwice() {
    for (int i = 0; i < members.size(); i++) {
      for (QuorumMember other : members.subList(i + 1, members.size())) {
        if (members.get(i).sharesAddress(other)) {
          throw new IllegalArgumentException(
              "members %s and %s are on one server, and would fail together; a quorum needs"
                      .formatted(members.get(i), other)
                  + " independent ones");
        }
      }
    }
  }

  List<QuorumMember> all() {
    return members;
  }

  int size() {
    return members.size();
  }

  QuorumMember at(int place) {
    return members.get(place);
  }

  /** Returns the longest lease for which a member's client renews its hold. */
  Duration longestLease() {
    return members.stream()
        .map(member -> member.source().options().lease())
        .max(Comparator.naturalOrder())
        .orElseThrow();
  }

  /** Returns the size of a majority of all members, whether they answer or not. */
  int quorum() {
    return majorityOf(members.size());
  }

  static int majorityOf(int nodes) {
    return nodes / 2 + 1;
  }

  /** Returns how long a node may take to answer. */
  long budgetNanos(long leaseMillis) {
    if (budget != null) {
      return budget.toNanos();
    }
    long lease = TimeUnit.MILLISECONDS.toNanos(leaseMillis);
    long part = Math.max(lease / LEASE_PER_BUDGET, QuorumMember.MIN_BUDGET_NANOS);
    return Math.min(Math.min(part, lease / MIN_BUDGETS_PER_LEASE), MAX_BUDGET_NANOS);
  }

  /** Returns a round of calls to the members, each of which may take that long to reply. */
  <T> FanOut<T> fanOut(long budgetNanos) {
    return new FanOut<>(members, budgetNanos);
  }

  @Override
  public String toString() {
    return members.toString();
  }
}
