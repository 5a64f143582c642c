package io.mortise.redlock;

import io.mortise.core.composite.MemberReplies;
import io.mortise.core.spi.OwnedLease;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.Predicate;
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

  /**
   * Runs an action on each lease.
   *
   * @param leases returns the lease at a place; null when there is none
   * @param releases whether no lease may be left out, and all nodes are awaited within a grace
   *     period, not only a majority
   */
  MemberReplies ask(
      IntFunction<@Nullable OwnedLease> leases, Consumer<OwnedLease> action, boolean releases) {
    FanOut<Boolean> requests = members.fanOut(budgetNanos);
    for (int i = 0; i < members.size(); i++) {
      OwnedLease lease = leases.apply(i);
      if (lease != null) {
        Callable<Boolean> call =
            () -> {
              action.accept(lease);
              return true;
            };
        if (!releases) {
          requests.submit(i, call);
        } else if (members.at(i).isSilent(budgetNanos)) {
          boolean held = lease.isValid();
          lease.releaseInBackground(); // with few threads for all leases
          if (held) { // that it does not confirm the release of a lost one leaves no doubt
            requests.refuse(i);
          }
        } else {
          requests.submitOrRun(i, call);
        }
      }
    }
    Predicate<FanOut<Boolean>> majority =
        replies -> replies.count(done -> done) >= members.quorum();
    try {
      requests.awaitUninterruptibly(majority, budgetNanos);
      if (releases && majority.test(requests)) {
        requests.awaitUninterruptibly(replies -> false, Math.min(GRACE_NANOS, budgetNanos));
      }
    } finally {
      requests.close(false, FanOut.ignoreLate());
    }
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
