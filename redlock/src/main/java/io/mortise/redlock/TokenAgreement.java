package io.mortise.redlock;

import io.mortise.core.LockException;
import io.mortise.core.composite.AggregateFailure;
import io.mortise.core.composite.CompositeLease;
import io.mortise.core.spi.OwnedLease;
import io.mortise.redlock.FanOut.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The second round of a ballot that was won: one token for the whole, which each of the nodes that
 * count has to remember. Nobody is asked who remembers it already.
 *
 * <p>Confined to the thread that holds the ballot, but for {@link LateGrants}.
 */
final class TokenAgreement {
  private final QuorumLeaseSource source;
  private final Map<Integer, OwnedLease> granted;
  private final long budgetNanos;
  private List<@Nullable Answer<Boolean>> raised = List.of();

  /**
   * A round among those that have granted.
   *
   * @param granted by the place of the node
   * @param budgetNanos for how long each may take to answer
   */
  TokenAgreement(QuorumLeaseSource source, Map<Integer, OwnedLease> granted, long budgetNanos) {
    this.source = source;
    this.granted = granted;
    this.budgetNanos = budgetNanos;
  }

  /** Has a token written back until nobody knows of a later one; the one that it came to. */
  long run(LateGrants late) {
    long token = CompositeLease.commonToken(granted.values());
    raised = raise(token);
    long later = late.tokenIfRemembered(token);
    while (later > token) { // one that came late knows of a holder that the majority did not
      token = later;
      raised = raise(token);
      later = late.tokenIfRemembered(token);
    }
    return token;
  }

  private List<@Nullable Answer<Boolean>> raise(long token) {
    FanOut<Boolean> raising = source.poll();
    granted.forEach((place, lease) -> raise(raising, place, lease, token));
    raising.awaitUninterruptibly(
        done -> done.count(held -> held) >= source.quorum(), System.nanoTime() + budgetNanos);
    return raising.close(false, (place, held) -> {});
  }

  private static void raise(FanOut<Boolean> raising, int place, OwnedLease lease, long token) {
    if (lease.fencingToken() >= token) {
      raising.answer(place, true);
    } else {
      raising.submit(place, () -> lease.raiseToken(token));
    }
  }

  /** Those that remember it, each in its place; null where there is none. */
  List<@Nullable OwnedLease> confirmedMembers() {
    List<@Nullable OwnedLease> ready = new ArrayList<>();
    for (int i = 0; i < raised.size(); i++) {
      ready.add(isYes(raised.get(i)) ? granted.get(i) : null);
    }
    return ready;
  }

  private static boolean isYes(@Nullable Answer<Boolean> answer) {
    return answer != null && Boolean.TRUE.equals(answer.value());
  }

  /** Why too few remember it. */
  LockException failure() {
    List<RuntimeException> failures = new ArrayList<>();
    for (int place : granted.keySet()) {
      Answer<Boolean> answer = raised.get(place);
      if (answer == null) {
        failures.add(source.member(place).silent(budgetNanos));
      } else if (answer.failure() != null) {
        failures.add(answer.failure());
      } else if (!isYes(answer)) {
        failures.add(
            source
                .member(place)
                .silent("lost the hold before its token could be written back", null));
      }
    }
    return AggregateFailure.of(source.name(), "its token could not be written back", failures);
  }
}
