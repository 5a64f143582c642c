package io.mortise.redlock;

import io.mortise.core.composite.MemberReplies;
import io.mortise.core.spi.OwnedLease;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Asks all nodes of a hold at the same time. Answers of a majority are enough.
 *
 * <p><b>A pause of this process</b>, as for a garbage collection, may last for longer than the
 * budget: then the replies have arrived, and the threads that read them stood still too. A thread
 * that wakes 10 ms or more after the budget waits once more, for as long as it was late and at most
 * another budget. Otherwise the release of a healthy quorum would throw.
 *
 * <p><b>Threads.</b> Any thread may call it; each call has a {@link FanOut} of its own.
 *
 * @param budgetNanos how long each node may take to answer
 */
record MajorityRequest(QuorumMembers members, long budgetNanos) {
  /** How long a release waits for the last nodes, once a majority has confirmed it. */
  private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /** How late a thread wakes that has stood still. */
  private static final long STANDSTILL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

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
          lease.releaseInBackground(); // with few threads for all leases
          requests.refuse(i);
        } else {
          requests.submitOrRun(i, call);
        }
      }
    }
    long untilNanos = members.nanoTime() + budgetNanos;
    awaitMajority(requests, untilNanos);
    long lateNanos = members.nanoTime() - untilNanos;
    if (lateNanos >= STANDSTILL_NANOS) {
      untilNanos += lateNanos + Math.min(lateNanos, budgetNanos);
      awaitMajority(requests, untilNanos);
    }
    if (releases) {
      long grace = members.nanoTime() + GRACE_NANOS;
      requests.awaitUninterruptibly(answers -> false, grace - untilNanos < 0 ? grace : untilNanos);
    }
    requests.close(false, FanOut.ignoreLate());
    return repliesOf(requests);
  }

  private void awaitMajority(FanOut<Boolean> requests, long untilNanos) {
    requests.awaitUninterruptibly(
        answers -> answers.count(done -> done) >= members.quorum(), untilNanos);
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
