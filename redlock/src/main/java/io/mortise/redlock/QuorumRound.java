package io.mortise.redlock;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.composite.AggregateFailure;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import io.mortise.redlock.FanOut.NodeReply;
import io.mortise.redlock.QuorumAcquisition.FirstGrant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One round of the <a
 * href="https://redis.io/docs/latest/develop/use/patterns/distributed-locks/">Redlock</a>
 * algorithm: requests a vote of each node, and makes a hold of a majority.
 *
 * <p>A round is decided as soon as a majority has granted. It is also decided when no majority is
 * possible any more, and the reason is known: others hold nodes, or too few nodes answer. Every
 * lease that a node grants, in time or late, either joins the hold or is released.
 *
 * <p><b>Threads.</b> Confined to the thread that runs it; replies that arrive after the decision go
 * to {@link LateGrants}.
 */
final class QuorumRound {
  private static final long MIN_REACQUISITION_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final QuorumLeaseSource source;
  private final List<QuorumMember> members;
  private final LeaseTerms terms;
  private final @Nullable Thread owner;
  private final long budgetNanos;
  private final int quorum;
  private final FanOut<Optional<OwnedLease>> votes;
  private List<@Nullable NodeReply<Optional<OwnedLease>>> answers = List.of();
  private @Nullable LockException failure;

  QuorumRound(
      QuorumLeaseSource source, LeaseTerms terms, @Nullable Thread owner, long budgetNanos) {
    this.source = source;
    this.members = source.members();
    this.terms = terms;
    this.owner = owner;
    this.budgetNanos = budgetNanos;
    this.quorum = source.quorum();
    this.votes = source.fanOut();
  }

  /**
   * Runs the round.
   *
   * @param first the grant of a node that was waited for; owned by the round from here on
   * @param waitNanos how long each of the other nodes may wait for its lock, as part of its budget
   * @return the hold; null when there is no majority: nothing is held then
   * @throws InterruptedException if the terms say that an interrupt ends a wait; nothing is held
   */
  @Nullable OwnedLease run(@Nullable FirstGrant first, long waitNanos) throws InterruptedException {
    if (first != null) {
      votes.answer(first.place(), Optional.of(first.lease()));
    }
    LateGrants late = new LateGrants();
    boolean won;
    try {
      requestVotes(waitNanos);
      won = votes.count(Optional::isPresent) >= quorum;
      answers = votes.close(!won, won ? late : QuorumRound::releaseLate);
    } catch (InterruptedException | RuntimeException | Error e) {
      answers = votes.close(true, QuorumRound::releaseLate);
      releaseGranted(false);
      throw e;
    }
    try {
      refuseOneServerTwice();
      if (won) {
        return establish(late);
      }
      failure = undecidedReason();
      releaseGranted(true);
      return null;
    } catch (RuntimeException | Error e) {
      late.reject();
      releaseGranted(true);
      throw e;
    }
  }

  private void requestVotes(long waitNanos) throws InterruptedException {
    List<Integer> unresponsive = new ArrayList<>();
    for (int i = 0; i < members.size(); i++) {
      if (votes.isAsked(i)) {
        continue; // it has granted before the round
      }
      if (members.get(i).isUnresponsive()) {
        unresponsive.add(i);
      } else {
        ask(i, waitNanos);
      }
    }
    await(unresponsive.size());
    if (!unresponsive.isEmpty() && !isDecided(unresponsive.size())) {
      unresponsive.forEach(place -> ask(place, waitNanos));
      await(0); // with their own budget, because their votes decide
    }
  }

  private void ask(int place, long waitNanos) {
    QuorumMember member = members.get(place);
    LeaseTerms memberTerms =
        terms.waiting(waitNanos).interruptible(true).withOptions(member.source().options());
    votes.submit(place, () -> member.acquire(memberTerms, owner));
  }

  private void await(int unasked) throws InterruptedException {
    long untilNanos = System.nanoTime() + budgetNanos;
    if (terms.interruptible()) {
      votes.await(replies -> isDecided(unasked), untilNanos);
    } else {
      votes.awaitUninterruptibly(replies -> isDecided(unasked), untilNanos);
    }
  }

  /**
   * Returns whether a majority has granted and its tokens suffice, or whether no majority is
   * possible and the pending replies cannot change the reason.
   */
  private boolean isDecided(int unasked) {
    int granted = votes.count(Optional::isPresent);
    if (granted >= quorum) {
      return tokensSuffice();
    }
    int refused = votes.count(Optional::isEmpty);
    int pending = votes.open() + unasked;
    return granted + pending < quorum
        && isHeldByOthers(granted, refused) == isHeldByOthers(granted, refused + pending);
  }

  /**
   * Returns whether one of the nodes that have granted remembers the last holder's token. The last
   * token is stored on a majority, so {@code n - quorum + 1} nodes that remember a token include
   * one that remembers the last. Fewer are not enough once a node has lost its data: that node may
   * be the only one that two majorities share. If no node remembers a token, the name is new.
   */
  private boolean tokensSuffice() {
    int remembering = votes.count(lease -> lease.isPresent() && lease.get().lastToken() > 0);
    return remembering == 0 || remembering > members.size() - quorum;
  }

  /**
   * Returns whether a lost round was lost because others hold nodes: the nodes that answered are a
   * majority, or the nodes that others do not hold are none. Otherwise too few nodes answer.
   */
  private boolean isHeldByOthers(int granted, int refused) {
    return granted + refused >= quorum || members.size() - refused < quorum;
  }

  // ---- a majority

  /** Writes the token to a majority; the hold exists only after that. */
  private @Nullable OwnedLease establish(LateGrants late) {
    Map<Integer, OwnedLease> granted = granted();
    TokenAgreement tokens = new TokenAgreement(source, granted, budgetNanos);
    long token = tokens.run(late);
    List<@Nullable OwnedLease> confirmed = tokens.confirmedMembers();
    return confirmed.stream().filter(lease -> lease != null).count() < quorum
        ? fail(late, tokens.failure())
        : begin(confirmed, granted, token, late);
  }

  private @Nullable OwnedLease begin(
      List<? extends @Nullable OwnedLease> confirmed,
      Map<Integer, OwnedLease> granted,
      long token,
      LateGrants late) {
    long pauseNanos = Math.max(MIN_REACQUISITION_PAUSE_NANOS, budgetNanos);
    NodeReacquisition reacquisition = new NodeReacquisition(source, owner, pauseNanos);
    MajorityLease hold;
    try {
      hold = new MajorityLease(source, confirmed, token, owner, terms, reacquisition, budgetNanos);
    } catch (RuntimeException | Error e) {
      reacquisition.end();
      throw e;
    }
    if (!hold.isValid()) {
      MajorityLease.releaseQuietly(hold);
      return fail(
          late,
          new LockException(
              Reason.UNREACHABLE,
              "lock '%s': the answers of a majority took longer than the lease of %d ms"
                  .formatted(source.name(), terms.leaseMillis()),
              null));
    }
    granted.forEach(
        (place, lease) -> {
          if (confirmed.get(place) == null) {
            late.accept(place, Optional.of(lease));
          }
        });
    late.attachTo(hold);
    return hold;
  }

  private @Nullable OwnedLease fail(LateGrants late, LockException why) {
    late.reject();
    failure = why;
    releaseGranted(true);
    return null;
  }

  /**
   * Compares the ids that the servers report, because one server may be reached under two
   * addresses. Includes every member that has ever answered, also one that refused: the other
   * member on its server may be the reason.
   */
  private void refuseOneServerTwice() {
    Map<String, QuorumMember> byId = new HashMap<>();
    for (QuorumMember member : members) {
      for (String id : member.knownServerIds()) {
        QuorumMember other = byId.putIfAbsent(id, member);
        if (other != null) {
          throw new IllegalStateException(
              "lock '%s': members %s and %s are on one server, and would fail together; a quorum"
                      .formatted(source.name(), other, member)
                  + " needs independent ones");
        }
      }
    }
  }

  // ---- no majority

  /** Returns why too few nodes answered; null when others hold the nodes. */
  private @Nullable LockException undecidedReason() {
    List<RuntimeException> transientFailures = new ArrayList<>();
    List<RuntimeException> permanentFailures = new ArrayList<>();
    int granted = 0;
    int refused = 0;
    for (int i = 0; i < members.size(); i++) {
      NodeReply<Optional<OwnedLease>> answer = answers.get(i);
      if (answer != null && answer.value() != null) {
        granted += answer.value().isPresent() ? 1 : 0;
        refused += answer.value().isPresent() ? 0 : 1;
      } else {
        RuntimeException failure =
            answer == null || answer.failure() == null
                ? members.get(i).noReply(budgetNanos)
                : answer.failure();
        (AggregateFailure.isTransient(failure) ? transientFailures : permanentFailures)
            .add(failure);
      }
    }
    if (isHeldByOthers(granted, refused)) {
      return null;
    }
    // Transient while enough nodes may still grant; the first failure decides on the reason.
    boolean isTransient =
        !transientFailures.isEmpty()
            && members.size() - refused - permanentFailures.size() >= quorum;
    List<RuntimeException> failures =
        new ArrayList<>(isTransient ? transientFailures : permanentFailures);
    failures.addAll(isTransient ? permanentFailures : transientFailures);
    return AggregateFailure.of(
        source.name(),
        "no majority of %d nodes, %d are needed".formatted(members.size(), quorum),
        failures);
  }

  /** Returns why the round failed; null when others hold the lock. */
  @Nullable LockException failure() {
    return failure;
  }

  /**
   * Returns the place of the node to wait at. When a majority has refused, a holder exists: it is
   * the first node that has refused, because a node that has granted has no holder whose release
   * would wake the waiter. Otherwise the waiters have split the votes: it is the first node that
   * has answered at all, which is the same for each waiter.
   */
  int preferredWaitNode() {
    boolean isRefused = votes.count(Optional::isEmpty) >= quorum;
    return IntStream.range(0, members.size())
        .filter(i -> hasVoted(answers.get(i), isRefused))
        .findFirst()
        .orElse(0);
  }

  private static boolean hasVoted(
      @Nullable NodeReply<Optional<OwnedLease>> answer, boolean refusalOnly) {
    return answer != null && answer.value() != null && (!refusalOnly || answer.value().isEmpty());
  }

  // ---- release

  private Map<Integer, OwnedLease> granted() {
    Map<Integer, OwnedLease> granted = new HashMap<>();
    for (int i = 0; i < answers.size(); i++) {
      NodeReply<Optional<OwnedLease>> answer = answers.get(i);
      if (answer != null && answer.value() != null && answer.value().isPresent()) {
        granted.put(i, answer.value().get());
      }
    }
    return granted;
  }

  /** Releases on all nodes at the same time, so that the next round finds them free. */
  private void releaseGranted(boolean awaited) {
    FanOut<Boolean> releases = source.fanOut();
    granted().forEach((place, lease) -> MajorityLease.release(releases, place, lease));
    if (awaited) {
      releases.awaitUninterruptibly(done -> false, System.nanoTime() + budgetNanos);
    }
    releases.close(false, (place, done) -> {});
  }

  private static void releaseLate(int place, Optional<OwnedLease> lease) {
    lease.ifPresent(MajorityLease::releaseQuietly);
  }
}
