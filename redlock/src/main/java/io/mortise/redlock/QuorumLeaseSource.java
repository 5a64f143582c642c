package io.mortise.redlock;

import io.mortise.core.Lease;
import io.mortise.core.LockException;
import io.mortise.core.composite.AggregateFailure;
import io.mortise.core.composite.CompositeLeaseSource;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import io.mortise.redlock.FanOut.Answer;
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

/** The members of one quorum, and what is asked of all of them. */
final class QuorumLeaseSource extends CompositeLeaseSource {
  private static final Duration LEAST_BUDGET = Duration.ofMillis(50);
  private static final Duration MOST_BUDGET = Duration.ofSeconds(1);
  private static final int LEASE_PER_BUDGET = 100;
  private static final int LEAST_BUDGETS_PER_LEASE = 4;

  private final List<QuorumMember> members;
  private final @Nullable Duration budget;
  private final Identity identity;

  /** One order in all processes, because those who wait do so at the first of them. */
  private static final Comparator<QuorumMember> ORDER =
      Comparator.comparing(QuorumMember::address).thenComparing(member -> member.source().name());

  /** Locks of the same members are the same. */
  private record Identity(Set<Object> members) {}

  /**
   * @param budget for how long a node may take to answer; null for a part of the lease
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

  /** A majority of all, whether they answer or not. */
  int quorum() {
    return members.size() / 2 + 1;
  }

  /** For how long a node may take to answer. */
  long budgetNanos(long leaseMillis) {
    if (budget != null) {
      return budget.toNanos();
    }
    Duration lease = Duration.ofMillis(leaseMillis);
    Duration part = lease.dividedBy(LEASE_PER_BUDGET);
    Duration least = part.compareTo(LEAST_BUDGET) < 0 ? LEAST_BUDGET : part;
    Duration most = lease.dividedBy(LEAST_BUDGETS_PER_LEASE);
    Duration within = least.compareTo(most) > 0 ? most : least;
    return (within.compareTo(MOST_BUDGET) > 0 ? MOST_BUDGET : within).toNanos();
  }

  <T> FanOut<T> poll() {
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

  /** A majority has it: the least of what the majority that has it longest has left. */
  @Override
  public Optional<Duration> remainingLease() {
    List<Answer<Optional<Duration>>> answers =
        askAll("who holds it", member -> member.source().remainingLease());
    List<Duration> held =
        answers.stream()
            .map(Answer::value)
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
    List<Answer<Boolean>> answers = askAll("to force it", member -> member.source().forceUnlock());
    if (answers.stream().filter(answer -> answer.value() != null).count() < quorum()) {
      throw unanswered("to force it", answers);
    }
    return answers.stream().anyMatch(answer -> Boolean.TRUE.equals(answer.value()));
  }

  /** Asks all members, within a budget; whoever has not answered has failed. */
  private <T> List<Answer<T>> askAll(String what, Function<QuorumMember, T> question) {
    FanOut<T> poll = poll();
    for (int i = 0; i < members.size(); i++) {
      QuorumMember member = members.get(i);
      Callable<T> asked = () -> question.apply(member);
      poll.submit(i, asked);
    }
    poll.awaitUninterruptibly(
        answers -> false, System.nanoTime() + budgetNanos(options().lease().toMillis()));
    List<@Nullable Answer<T>> answers = poll.close(false, (place, late) -> {});
    List<Answer<T>> complete = new ArrayList<>();
    for (int i = 0; i < members.size(); i++) {
      Answer<T> answer = answers.get(i);
      complete.add(
          answer == null
              ? new Answer<>(
                  null, members.get(i).silent("did not answer in time, asked " + what, null))
              : answer);
    }
    return complete;
  }

  private LockException unanswered(String what, List<? extends Answer<?>> answers) {
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
