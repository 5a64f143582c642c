package io.mortise.redlock;

import io.mortise.core.LockException;
import io.mortise.core.composite.AggregateFailure;
import io.mortise.core.composite.CommonToken;
import io.mortise.core.spi.OwnedLease;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Agrees on one fencing token after a round that won a majority: a read repair. The {@linkplain
 * CommonToken common token} is written back to each member with a smaller one, until a majority
 * remembers it. A member that remembers it already is not asked.
 *
 * <p><b>Threads.</b> Confined to the thread that runs the {@link QuorumRound}; what arrives late is
 * read through {@link Grants}, which has its own lock.
 *
 * @see <a href="https://en.wikipedia.org/wiki/Eventual_consistency">Read repair, under "conflict
 *     resolution"</a>
 */
final class TokenAgreement {
  private final String lock;
  private final QuorumMembers members;
  private final Map<Integer, OwnedLease> granted;
  private final long budgetNanos;
  private List<@Nullable NodeReply<Boolean>> replies = List.of();

  /** An agreement among the members that have granted. */
  TokenAgreement(
      String lock, QuorumMembers members, Map<Integer, OwnedLease> granted, long budgetNanos) {
    this.lock = lock;
    this.members = members;
    this.granted = granted;
    this.budgetNanos = budgetNanos;
  }

  /** Writes tokens back until no grant remembers a later one; returns the agreed token. */
  long run(Grants grants) {
    long token = CommonToken.of(granted.values());
    replies = raise(token);
    long later = grants.tokenIfRemembered(token);
    while (later > token) { // a late grant remembers a holder that the majority did not
      token = later;
      replies = raise(token);
      later = grants.tokenIfRemembered(token);
    }
    return token;
  }

  private List<@Nullable NodeReply<Boolean>> raise(long token) {
    FanOut<Boolean> raises = members.fanOut(budgetNanos);
    granted.forEach((place, lease) -> raise(raises, place, lease, token));
    raises.awaitAndClose(done -> done.count(held -> held) >= members.quorum(), budgetNanos);
    return raises.replies();
  }

  private static void raise(FanOut<Boolean> raises, int place, OwnedLease lease, long token) {
    if (lease.fencingToken() >= token) {
      raises.answer(place, true);
    } else {
      raises.submit(place, () -> lease.raiseToken(token));
    }
  }

  /** Returns the members that remember the token, each in its place; null where there is none. */
  List<@Nullable OwnedLease> confirmedMembers() {
    List<@Nullable OwnedLease> confirmed = new ArrayList<>();
    for (int i = 0; i < replies.size(); i++) {
      confirmed.add(isConfirmed(replies.get(i)) ? granted.get(i) : null);
    }
    return confirmed;
  }

  private static boolean isConfirmed(@Nullable NodeReply<Boolean> reply) {
    return reply != null && Boolean.TRUE.equals(reply.value());
  }

  /** Returns why too few members remember the token. */
  LockException failure() {
    List<RuntimeException> failures = new ArrayList<>();
    for (int place : granted.keySet()) {
      NodeReply<Boolean> reply = replies.get(place);
      if (reply == null) {
        failures.add(members.at(place).noReply(budgetNanos));
      } else if (reply.failure() != null) {
        failures.add(reply.failure());
      } else if (!isConfirmed(reply)) {
        failures.add(
            members
                .at(place)
                .noReply("lost the hold before its token could be written back", null));
      }
    }
    return AggregateFailure.of(lock, "its token could not be written back", failures);
  }
}
