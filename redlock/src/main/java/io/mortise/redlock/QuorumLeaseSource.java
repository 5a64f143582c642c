package io.mortise.redlock;

import io.mortise.core.Lease;
import io.mortise.core.LockException;
import io.mortise.core.LockInspection;
import io.mortise.core.composite.AggregateFailure;
import io.mortise.core.composite.CompositeLeaseSource;
import io.mortise.core.spi.LeakDetectingLease;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The source of leases on a majority of members, and the questions to all of them.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
final class QuorumLeaseSource extends CompositeLeaseSource {
  private final QuorumMembers members;
  private final @Nullable Duration budget;
  private final Identity identity;

  /** Locks with the same members are the same lock. */
  private record Identity(Set<Object> members) {}

  /**
   * @param budget how long a node may take to answer; null for a part of the lease
   */
  QuorumLeaseSource(List<QuorumMember> members, @Nullable Duration budget) {
    super(members.stream().map(QuorumMember::source).toList(), names(members));
    this.members = new QuorumMembers(members, budget);
    this.budget = budget;
    this.identity =
        new Identity(
            members.stream()
                .map(member -> member.source().identity())
                .collect(Collectors.toUnmodifiableSet()));
  }

  private static String names(List<QuorumMember> members) {
    return members.stream()
        .map(member -> member.source().name())
        .distinct()
        .collect(Collectors.joining("|"));
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
    return new QuorumAcquisition(this, members, terms, owner).run();
  }

  @Override
  public Lease guard(OwnedLease lease) {
    return new Handle((MajorityLease) lease, options().traceLeases(), this::execute);
  }

  /** The lease that the user receives, with the questions of a quorum. */
  private static final class Handle extends LeakDetectingLease implements QuorumLease {
    private final MajorityLease hold;

    Handle(MajorityLease hold, boolean traced, Consumer<Runnable> worker) {
      super(hold, traced, worker);
      this.hold = hold;
    }

    @Override
    public int validNodes() {
      return hold.validNodes();
    }

    @Override
    public int nodes() {
      return hold.nodes();
    }

    @Override
    public int quorum() {
      return hold.quorum();
    }
  }

  @Override
  public LeaseSource boundToCaller() {
    return new QuorumLeaseSource(
        members.all().stream().map(QuorumMember::detached).toList(), budget);
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
    if (held.size() < members.quorum() && held.size() + unknown >= members.quorum()) {
      throw unanswered("who holds it", answers);
    }
    return held.size() < members.quorum()
        ? Optional.empty()
        : Optional.of(held.get(members.quorum() - 1));
  }

  /** Asks all nodes at the same time; one that does not answer in time has failed. */
  @Override
  public LockInspection inspect() {
    List<NodeReply<LockInspection>> answers =
        askAll("who holds it", member -> member.source().inspect());
    List<LockInspection> inspections = new ArrayList<>();
    for (int i = 0; i < answers.size(); i++) {
      LockInspection answer = answers.get(i).value();
      RuntimeException failure = answers.get(i).failure();
      inspections.add(
          answer != null
              ? answer
              : failedInspection(
                  members.at(i).source(),
                  failure instanceof LockException known
                      ? known
                      : members.at(i).noReply("could not be asked who holds it", failure)));
    }
    return inspection(inspections);
  }

  @Override
  public boolean forceUnlock() {
    List<NodeReply<Boolean>> answers =
        askAll("to force it", member -> member.source().forceUnlock());
    if (answers.stream().filter(answer -> answer.value() != null).count() < members.quorum()) {
      throw unanswered("to force it", answers);
    }
    return answers.stream().anyMatch(answer -> Boolean.TRUE.equals(answer.value()));
  }

  /** Asks all members; a member that does not answer within the budget has failed. */
  private <T> List<NodeReply<T>> askAll(String what, Function<QuorumMember, T> question) {
    long budgetNanos = members.budgetNanos(options().lease().toMillis());
    FanOut<T> requests = members.fanOut(budgetNanos);
    for (int i = 0; i < members.size(); i++) {
      QuorumMember member = members.at(i);
      requests.submit(i, () -> question.apply(member));
    }
    requests.awaitAndClose(answers -> false, budgetNanos);
    List<@Nullable NodeReply<T>> answers = requests.replies();
    List<NodeReply<T>> complete = new ArrayList<>();
    for (int i = 0; i < members.size(); i++) {
      NodeReply<T> answer = answers.get(i);
      complete.add(
          answer == null
              ? new NodeReply<>(null, members.at(i).silent("did not answer in time, asked " + what))
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
