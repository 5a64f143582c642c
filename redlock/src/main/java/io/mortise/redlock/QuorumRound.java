package io.mortise.redlock;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.composite.AggregateFailure;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import io.mortise.redlock.FanOut.Answer;
import io.mortise.redlock.QuorumAcquisition.Lead;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One round of votes: asks the nodes, and makes a hold of a majority.
 *
 * <p>Decided as soon as a majority has granted; or can no longer, and it is known whether that is
 * because others hold nodes, or because too few answer. Whatever a node grants goes one of two
 * ways: it becomes part of the hold, now or when it comes late, or it is given back.
 *
 * <p>Confined to the thread that holds it, but for {@link LateGrants}.
 */
final class QuorumRound {
  private static final long LEAST_RETAKE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final QuorumLeaseSource source;
  private final List<QuorumMember> members;
  private final LeaseTerms terms;
  private final @Nullable Thread owner;
  private final long budgetNanos;
  private final int quorum;
  private final FanOut<Optional<OwnedLease>> poll;
  private List<@Nullable Answer<Optional<OwnedLease>>> answers = List.of();
  private @Nullable LockException trouble;

  QuorumRound(
      QuorumLeaseSource source, LeaseTerms terms, @Nullable Thread owner, long budgetNanos) {
    this.source = source;
    this.members = source.members();
    this.terms = terms;
    this.owner = owner;
    this.budgetNanos = budgetNanos;
    this.quorum = source.quorum();
    this.poll = source.poll();
  }

  /**
   * Holds the ballot.
   *
   * @param lead a node that has granted already; this ballot's from here on
   * @param waitNanos how long the others may wait for it, as part of their budget
   * @return the hold; null when there is no majority: nothing is held then
   * @throws InterruptedException if the terms say that an interrupt ends a wait; nothing is held
   */
  @Nullable OwnedLease run(@Nullable Lead lead, long waitNanos) throws InterruptedException {
    if (lead != null) {
      poll.answer(lead.place(), Optional.of(lead.lease()));
    }
    LateGrants late = new LateGrants();
    boolean won;
    try {
      requestVotes(waitNanos);
      won = poll.count(Optional::isPresent) >= quorum;
      answers = poll.close(!won, won ? late : QuorumRound::giveBack);
    } catch (InterruptedException | RuntimeException | Error e) {
      answers = poll.close(true, QuorumRound::giveBack);
      giveBackAll(false);
      throw e;
    }
    try {
      refuseOneServerTwice();
      if (won) {
        return establish(late);
      }
      trouble = undecidedReason();
      giveBackAll(true);
      return null;
    } catch (RuntimeException | Error e) {
      late.reject();
      giveBackAll(true);
      throw e;
    }
  }

  private void requestVotes(long waitNanos) throws InterruptedException {
    List<Integer> doubtful = new ArrayList<>();
    for (int i = 0; i < members.size(); i++) {
      if (poll.isAsked(i)) {
        continue; // the one that was waited for
      }
      if (members.get(i).isDoubtful()) {
        doubtful.add(i);
      } else {
        ask(i, waitNanos);
      }
    }
    await(doubtful.size());
    if (!doubtful.isEmpty() && !isDecided(doubtful.size())) {
      doubtful.forEach(place -> ask(place, waitNanos));
      await(0); // a budget of their own: their votes decide
    }
  }

  private void ask(int place, long waitNanos) {
    QuorumMember member = members.get(place);
    LeaseTerms asked =
        terms.waiting(waitNanos).interruptible(true).withOptions(member.source().options());
    poll.submit(place, () -> member.acquire(asked, owner));
  }

  private void await(int unasked) throws InterruptedException {
    long untilNanos = System.nanoTime() + budgetNanos;
    if (terms.interruptible()) {
      poll.await(votes -> isDecided(unasked), untilNanos);
    } else {
      poll.awaitUninterruptibly(votes -> isDecided(unasked), untilNanos);
    }
  }

  /**
   * Whether a majority has granted, and its tokens tell enough; or can no longer, and what still
   * comes does not tell why.
   */
  private boolean isDecided(int unasked) {
    int granted = poll.count(Optional::isPresent);
    if (granted >= quorum) {
      return tokensTellEnough();
    }
    int held = poll.count(Optional::isEmpty);
    int coming = poll.open() + unasked;
    return granted + coming < quorum && isHeld(granted, held) == isHeld(granted, held + coming);
  }

  /**
   * Whether one of those that have granted knows the last holder's token. It stands on a majority:
   * so many that remember any token include one of them. Fewer are not enough if others have
   * forgotten: a node that came back empty may be all that two majorities share. When nobody
   * remembers any, the name is new.
   */
  private boolean tokensTellEnough() {
    int remembering = poll.count(lease -> lease.isPresent() && lease.get().lastToken() > 0);
    return remembering == 0 || remembering > members.size() - quorum;
  }

  /**
   * Whether a ballot that was lost was lost because others hold nodes: without them those that
   * answered would be a majority, or with them the rest is none. Otherwise too few answer.
   */
  private boolean isHeld(int granted, int held) {
    return granted + held >= quorum || members.size() - held < quorum;
  }

  // ---- a majority

  /** Has the token remembered by a majority; only then there is a hold. */
  private @Nullable OwnedLease establish(LateGrants late) {
    Map<Integer, OwnedLease> granted = granted();
    TokenAgreement tokens = new TokenAgreement(source, granted, budgetNanos);
    long token = tokens.run(late);
    List<@Nullable OwnedLease> ready = tokens.confirmedMembers();
    return ready.stream().filter(lease -> lease != null).count() < quorum
        ? fail(late, tokens.failure())
        : begin(ready, granted, token, late);
  }

  private @Nullable OwnedLease begin(
      List<? extends @Nullable OwnedLease> ready,
      Map<Integer, OwnedLease> granted,
      long token,
      LateGrants late) {
    long pauseNanos = Math.max(LEAST_RETAKE_NANOS, budgetNanos);
    NodeReacquisition retaking = new NodeReacquisition(source, owner, pauseNanos);
    MajorityLease hold;
    try {
      hold = new MajorityLease(source, ready, token, owner, terms, retaking, budgetNanos);
    } catch (RuntimeException | Error e) {
      retaking.end();
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
          if (ready.get(place) == null) {
            late.accept(place, Optional.of(lease));
          }
        });
    late.attachTo(hold);
    return hold;
  }

  private @Nullable OwnedLease fail(LateGrants late, LockException why) {
    late.reject();
    trouble = why;
    giveBackAll(true);
    return null;
  }

  /**
   * By what the servers call themselves: they may have been reached under different addresses. All
   * count that have ever answered, also with a no: the other may be in its way.
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

  /** Why there is none, for want of answers; null when it is because others hold nodes. */
  private @Nullable LockException undecidedReason() {
    List<RuntimeException> passing = new ArrayList<>();
    List<RuntimeException> lasting = new ArrayList<>();
    int granted = 0;
    int held = 0;
    for (int i = 0; i < members.size(); i++) {
      Answer<Optional<OwnedLease>> answer = answers.get(i);
      if (answer != null && answer.value() != null) {
        granted += answer.value().isPresent() ? 1 : 0;
        held += answer.value().isPresent() ? 0 : 1;
      } else {
        RuntimeException failure =
            answer == null || answer.failure() == null
                ? members.get(i).silent(budgetNanos)
                : answer.failure();
        (AggregateFailure.isTransient(failure) ? passing : lasting).add(failure);
      }
    }
    if (isHeld(granted, held)) {
      return null;
    }
    // If those that may still grant are enough, it may pass; the first in the list decides.
    boolean isTransient = !passing.isEmpty() && members.size() - held - lasting.size() >= quorum;
    List<RuntimeException> failures = new ArrayList<>(isTransient ? passing : lasting);
    failures.addAll(isTransient ? lasting : passing);
    return AggregateFailure.of(
        source.name(),
        "no majority of %d nodes, %d are needed".formatted(members.size(), quorum),
        failures);
  }

  /** Why this ballot was not decided by those who hold the lock; null when it was. */
  @Nullable LockException failure() {
    return trouble;
  }

  /**
   * Where to wait. When a majority has refused, somebody holds the lock: at the first of them,
   * because one that has granted has nothing to tell. Otherwise those who want it have split the
   * votes: at the first that has answered at all, which is the same for each of them.
   */
  int preferredWaitNode() {
    boolean held = poll.count(Optional::isEmpty) >= quorum;
    return IntStream.range(0, members.size())
        .filter(i -> hasAnswered(answers.get(i), held))
        .findFirst()
        .orElse(0);
  }

  private static boolean hasAnswered(
      @Nullable Answer<Optional<OwnedLease>> answer, boolean withNo) {
    return answer != null && answer.value() != null && (!withNo || answer.value().isEmpty());
  }

  // ---- giving back

  private Map<Integer, OwnedLease> granted() {
    Map<Integer, OwnedLease> granted = new HashMap<>();
    for (int i = 0; i < answers.size(); i++) {
      Answer<Optional<OwnedLease>> answer = answers.get(i);
      if (answer != null && answer.value() != null && answer.value().isPresent()) {
        granted.put(i, answer.value().get());
      }
    }
    return granted;
  }

  /** At once everywhere, so that the next ballot is not in its own way. */
  private void giveBackAll(boolean awaited) {
    FanOut<Boolean> releases = source.poll();
    granted().forEach((place, lease) -> MajorityLease.release(releases, place, lease));
    if (awaited) {
      releases.awaitUninterruptibly(done -> false, System.nanoTime() + budgetNanos);
    }
    releases.close(false, (place, done) -> {});
  }

  private static void giveBack(int place, Optional<OwnedLease> lease) {
    lease.ifPresent(MajorityLease::releaseQuietly);
  }
}
