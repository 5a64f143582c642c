package io.mortise.redlock;

import io.mortise.core.LeaseLoss;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.composite.AggregateFailure;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One round of the <a
 * href="https://redis.io/docs/latest/develop/use/patterns/distributed-locks/">Redlock</a>
 * algorithm: requests a vote of each node, and makes a hold of a majority.
 *
 * <p>A round is decided as soon as a majority has granted. It is also decided when no majority is
 * possible any more, and the reason is known: others hold nodes, or too few nodes answer; see
 * {@link VoteCount}. Every lease that a node grants, in time or late, either joins the hold or is
 * released.
 *
 * <p><b>Threads.</b> Confined to the thread that runs it; replies that arrive after the decision go
 * to {@link Grants}.
 */
final class QuorumRound {
  private static final long MIN_REACQUISITION_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final LeaseSource source;
  private final QuorumMembers members;
  private final LeaseTerms terms;
  private final @Nullable Thread owner;
  private final long budgetNanos;
  private final FanOut<Optional<OwnedLease>> votes;
  private final Grants grants;
  private List<@Nullable NodeReply<Optional<OwnedLease>>> answers = List.of();
  private @Nullable LockException failure;

  QuorumRound(LeaseSource source, QuorumMembers members, LeaseTerms terms, @Nullable Thread owner) {
    this.source = source;
    this.members = members;
    this.terms = terms;
    this.owner = owner;
    this.budgetNanos = members.budgetNanos(terms.leaseMillis());
    this.votes = members.fanOut(budgetNanos);
    this.grants = new Grants(members, votes, budgetNanos); // before it is needed
  }

  /**
   * Runs the round.
   *
   * @param first the lease of the node at which the acquisition waited; null if it did not
   * @param firstPlace the place of that node
   * @param waitNanos how long each of the other nodes may wait for its lock, as part of its budget
   * @return the hold; null when there is no majority: nothing is held then
   * @throws InterruptedException if the terms say that an interrupt ends a wait; nothing is held
   */
  @Nullable OwnedLease run(@Nullable OwnedLease first, int firstPlace, long waitNanos)
      throws InterruptedException {
    if (first != null) {
      votes.answer(firstPlace, Optional.of(first));
    }
    boolean won;
    try {
      requestVotes(waitNanos);
      won = VoteCount.of(votes.replies()).isWon();
      grants.closeVotes(!won);
      answers = votes.replies();
      won = VoteCount.of(answers).isWon(); // by grants that came at the last moment too
    } catch (InterruptedException | RuntimeException | Error e) {
      grants.closeVotes(true);
      grants.release(false);
      throw e;
    }
    try {
      refuseOneServerTwice();
      return won ? establish() : fail(failureUnlessHeldByOthers());
    } catch (RuntimeException | Error e) {
      grants.release(true);
      throw e;
    }
  }

  private void requestVotes(long waitNanos) throws InterruptedException {
    List<Integer> unresponsive = new ArrayList<>();
    for (int i = 0; i < members.size(); i++) {
      if (votes.isAsked(i)) {
        continue; // it has granted before the round
      }
      if (members.at(i).isUnresponsive()) {
        unresponsive.add(i);
      } else {
        ask(i, waitNanos);
      }
    }
    await();
    if (!unresponsive.isEmpty() && !VoteCount.of(votes.replies()).isDecided()) {
      unresponsive.forEach(place -> ask(place, waitNanos));
      await(); // with their own budget, because their votes decide
    }
  }

  private void ask(int place, long waitNanos) {
    QuorumMember member = members.at(place);
    LeaseTerms memberTerms =
        terms.waiting(waitNanos).interruptible(true).withOptions(member.source().options());
    votes.submit(place, () -> member.acquire(memberTerms, owner));
  }

  private void await() throws InterruptedException {
    Predicate<FanOut<Optional<OwnedLease>>> isDecided =
        asked -> VoteCount.of(asked.replies()).isDecided();
    if (terms.interruptible()) {
      votes.await(isDecided, budgetNanos);
    } else {
      votes.awaitUninterruptibly(isDecided, budgetNanos);
    }
  }

  // ---- a majority

  /** Writes the token to a majority; the hold exists only after that. */
  private @Nullable OwnedLease establish() {
    Map<Integer, OwnedLease> leases = grants.byPlace();
    TokenAgreement tokens = new TokenAgreement(source.name(), members, leases, budgetNanos);
    long token = tokens.run(grants);
    List<@Nullable OwnedLease> confirmed = tokens.confirmedMembers();
    if (confirmed.stream().filter(lease -> lease != null).count() < members.quorum()) {
      return fail(tokens.failure());
    }
    return confirmed.stream().filter(lease -> lease != null && lease.isValid()).count()
            < members.quorum()
        ? fail(lostAgain(leases))
        : begin(confirmed, leases, token);
  }

  private @Nullable OwnedLease begin(
      List<? extends @Nullable OwnedLease> confirmed, Map<Integer, OwnedLease> leases, long token) {
    long pauseNanos =
        Math.min(
            Math.max(MIN_REACQUISITION_PAUSE_NANOS, budgetNanos),
            NodeReacquisition.MAX_PAUSE_NANOS);
    NodeReacquisition reacquisition = new NodeReacquisition(source, members, owner, pauseNanos);
    MajorityLease hold;
    try {
      hold = new MajorityLease(source, members, confirmed, token, owner, terms, reacquisition);
    } catch (RuntimeException | Error e) {
      reacquisition.end();
      throw e;
    }
    if (!hold.isValid()) {
      QuorumMember.releaseQuietly(hold);
      return fail(lostAgain(leases));
    }
    grants.attachTo(hold, confirmed);
    return hold;
  }

  /** Returns why the round failed: nodes lost the lock again, before all of a majority had it. */
  private LockException lostAgain(Map<Integer, OwnedLease> leases) {
    List<RuntimeException> losses = new ArrayList<>();
    leases.forEach(
        (place, lease) ->
            lease
                .loss()
                .filter(loss -> loss.reason() != LeaseLoss.Reason.EXPIRED)
                .ifPresent(
                    loss ->
                        losses.add(members.at(place).noReply("lost it: " + loss.detail(), null))));
    return losses.isEmpty()
        ? new LockException(
            Reason.UNREACHABLE,
            "lock '%s': the answers of a majority took longer than the lease of %d ms less the clock drift; give a longer lease"
                .formatted(source.name(), terms.leaseMillis()),
            null)
        : AggregateFailure.of(source.name(), "it was lost before a majority had it", losses);
  }

  private @Nullable OwnedLease fail(@Nullable LockException why) {
    failure = why;
    grants.release(true);
    return null;
  }

  /**
   * Compares the ids that the servers report, because one server may be reached under two
   * addresses. Includes every member that has ever answered, also one that refused: the other
   * member on its server may be the reason.
   */
  private void refuseOneServerTwice() {
    Map<String, QuorumMember> byId = new HashMap<>();
    for (QuorumMember member : members.all()) {
      for (String id : member.health().serverIds()) {
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

  private @Nullable LockException failureUnlessHeldByOthers() {
    VoteCount count = VoteCount.of(answers);
    if (count.isHeldByOthers()) {
      return null;
    }
    List<RuntimeException> failures = new ArrayList<>();
    for (int i = 0; i < members.size(); i++) {
      NodeReply<Optional<OwnedLease>> answer = answers.get(i);
      if (answer == null) {
        failures.add(members.at(i).noReply(budgetNanos));
      } else if (answer.failure() != null) {
        failures.add(answer.failure());
      }
    }
    return count.failure(source.name(), failures);
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
    boolean hasHolder = VoteCount.of(answers).hasHolder();
    return IntStream.range(0, members.size())
        .filter(i -> hasVoted(answers.get(i), hasHolder))
        .findFirst()
        .orElse(0);
  }

  private static boolean hasVoted(
      @Nullable NodeReply<Optional<OwnedLease>> answer, boolean refusalOnly) {
    return answer != null && answer.value() != null && (!refusalOnly || answer.value().isEmpty());
  }
}
