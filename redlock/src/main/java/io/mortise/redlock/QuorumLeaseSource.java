package io.mortise.redlock;

import io.mortise.core.Lease;
import io.mortise.core.LockException;
import io.mortise.core.composite.AggregateFailure;
import io.mortise.core.composite.CompositeLeaseSource;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import io.mortise.redlock.FanOut.NodeReply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The source of leases on a majority of members, and the questions to all of them.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
final class QuorumLeaseSource extends CompositeLeaseSource {
  private static final Duration MIN_BUDGET = Duration.ofMillis(50);
  private static final Duration MAX_BUDGET = Duration.ofSeconds(1);
  private static final int LEASE_PER_BUDGET = 100;
  private static final int MIN_BUDGETS_PER_LEASE = 4;

  private final List<QuorumMember> members;
  private final @Nullable Duration budget;
  private final Identity identity;

  /** The same order in all processes, because waiters wait at the first member of it. */
  private static final Comparator<QuorumMember> ORDER =
      Comparator.comparing(QuorumMember::address).thenComparing(member -> member.source().name());

  /** Locks with the same members are the same lock. */
  private record Identity(Set<Object> members) {}

  /**
   * @param budget how long a node may take to answer; null for a part of the lease
   */
  QuorumLeaseSource(List<QuorumMember> members, @Nullable Duration budget) {
    super(members.stream().map(QuorumMember::source).toList(), names(members));
    this.members = members.stream().sorted(ORDER).toList();
    this.budget = budget;
    this.identity =
        new Identity(
            members.stream()
                .map(member -> member.source().identity())
                .collect(Collectors.toUnmodifiableSet()));
    refuseOneServerTwice();
    refuseThoseThatDependOnTheCaller();
  }

  private static String names(List<QuorumMember> members) {
    return members.stream()
        .map(member -> member.source().name())
        .distinct()
        .collect(Collectors.joining("|"));
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

  List<QuorumMember> members() {
    return members;
  }

  QuorumMember member(int place) {
    return members.get(place);
  }

  /** Returns the size of a majority of all members, whether they answer or not. */
  int quorum() {
    return members.size() / 2 + 1;
  }

  /** Returns how long a node may take to answer. */
  long budgetNanos(long leaseMillis) {
    if (budget != null) {
      return budget.toNanos();
    }
    Duration lease = Duration.ofMillis(leaseMillis);
    Duration part = lease.dividedBy(LEASE_PER_BUDGET);
    Duration least = part.compareTo(MIN_BUDGET) < 0 ? MIN_BUDGET : part;
    Duration most = lease.dividedBy(MIN_BUDGETS_PER_LEASE);
    Duration within = least.compareTo(most) > 0 ? most : least;
    return (within.compareTo(MAX_BUDGET) > 0 ? MAX_BUDGET : within).toNanos();
  }

  <T> FanOut<T> fanOut() {
    return new FanOut<>(members);
  }

  @Override
  public Object identity() {
    return identity;
  }

  @Override
  public String kind() {
    return "quorum lock";
  }

  @Override
  public Optional<OwnedLease> acquire(LeaseTerms terms, @Nullable Thread owner)
      throws InterruptedException {
    return new QuorumAcquisition(this, terms, owner).run();
  }

  @Override
  public Lease guard(OwnedLease lease) {
    return new LeakDetectingQuorumLease((MajorityLease) lease, options().traceLeases());
  }

  @Override
  public LeaseSource boundToCaller() {
    return new QuorumLeaseSource(members.stream().map(QuorumMember::detached).toList(), budget);
  }

  // ---- questions

  /**
   * Returns how long a majority is held: the shortest remaining lease of the majority that is held
   * the longest.
   */
  @Override
  public Optional<Duration> remainingLease() {
    List<NodeReply<Optional<Duration>>> answers =
        askAll("who holds it", member -> member.source().remainingLease());
    List<Duration> held =
        answers.stream()
            .map(NodeReply::value)
            .filter(Objects::nonNull)
            .flatMap(Optional::stream)
            .sorted(Comparator.reverseOrder())
            .toList();
    long unknown = members.size() - answers.stream().filter(a -> a.value() != null).count();
    if (held.size() < quorum() && held.size() + unknown >= quorum()) {
      throw unanswered("who holds it", answers);
    }
    return held.size() < quorum() ? Optional.empty() : Optional.of(held.get(quorum() - 1));
  }

  @Override
  public boolean forceUnlock() {
    List<NodeReply<Boolean>> answers =
        askAll("to force it", member -> member.source().forceUnlock());
    if (answers.stream().filter(answer -> answer.value() != null).count() < quorum()) {
      throw unanswered("to force it", answers);
    }
    return answers.stream().anyMatch(answer -> Boolean.TRUE.equals(answer.value()));
  }

  /** Asks all members; a member that does not answer within the budget has failed. */
  private <T> List<NodeReply<T>> askAll(String what, Function<QuorumMember, T> question) {
    FanOut<T> requests = fanOut();
    for (int i = 0; i < members.size(); i++) {
      QuorumMember member = members.get(i);
      Callable<T> asked = () -> question.apply(member);
      requests.submit(i, asked);
    }
    requests.awaitUninterruptibly(
        answers -> false, System.nanoTime() + budgetNanos(options().lease().toMillis()));
    List<@Nullable NodeReply<T>> answers = requests.close(false, (place, late) -> {});
    List<NodeReply<T>> complete = new ArrayList<>();
    for (int i = 0; i < members.size(); i++) {
      NodeReply<T> answer = answers.get(i);
      complete.add(
          answer == null
              ? new NodeReply<>(
                  null, members.get(i).noReply("did not answer in time, asked " + what, null))
              : answer);
    }
    return complete;
  }

  private LockException unanswered(String what, List<? extends NodeReply<?>> answers) {
    return AggregateFailure.of(
        name(),
        "too few nodes answered when they were asked " + what,
        answers.stream()
            .flatMap(answer -> Optional.ofNullable(answer.failure()).stream())
            .toList());
  }

  @Override
  public String toString() {
    return "quorum lock '" + name() + "' on " + members;
  }
}
