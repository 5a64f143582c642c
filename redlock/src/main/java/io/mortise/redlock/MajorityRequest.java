package io.mortise.redlock;

import io.mortise.core.composite.MemberReplies;
import io.mortise.core.spi.OwnedLease;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Asks all nodes of a hold at the same time. Answers of a majority are enough.
 *
 * <p><b>Threads.</b> Any thread may call it; each call has a {@link FanOut} of its own.
 *
 * @param budgetNanos how long each node may take to answer
 */
record MajorityRequest(QuorumMembers members, long budgetNanos) {
  /** How long a release waits for the last nodes, once a majority has confirmed it. */
  private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /** Submits the call of one node. */
  @FunctionalInterface
  interface Submission {
    void submit(FanOut<Boolean> requests, int place, OwnedLease lease);
  }

  /**
   * Asks all nodes that have a lease.
   *
   * @param leases returns the lease at a place; null when there is none
   * @param awaitAll whether to wait for all of them, within a grace period, and not only for a
   *     majority
   */
  MemberReplies ask(
      IntFunction<@Nullable OwnedLease> leases, Submission submission, boolean awaitAll) {
    FanOut<Boolean> requests = members.fanOut();
    for (int i = 0; i < members.size(); i++) {
      OwnedLease lease = leases.apply(i);
      if (lease != null) {
        submission.submit(requests, i, lease);
      }
    }
    long untilNanos = members.nanoTime() + budgetNanos;
    requests.awaitUninterruptibly(
        answers -> answers.count(done -> done) >= members.quorum(), untilNanos);
    if (awaitAll) {
      long grace = members.nanoTime() + GRACE_NANOS;
      requests.awaitUninterruptibly(answers -> false, grace - untilNanos < 0 ? grace : untilNanos);
    }
    requests.close(false, FanOut.ignoreLate());
    return repliesOf(requests);
  }

  private MemberReplies repliesOf(FanOut<Boolean> requests) {
    int done = 0;
    List<RuntimeException> failures = new ArrayList<>();
    List<@Nullable NodeReply<Boolean>> answers = requests.replies();
    for (int i = 0; i < members.size(); i++) {
      NodeReply<Boolean> answer = answers.get(i);
      if (answer != null && answer.value() != null) {
        done++;
      } else if (requests.isAsked(i) && answer == null) {
        failures.add(members.at(i).noReply("has not answered yet", null));
      } else if (answer != null && answer.failure() != null) {
        failures.add(answer.failure());
      }
    }
    return new MemberReplies(done, failures);
  }
}
