package io.mortise.redlock;

import io.mortise.core.LockException;
import io.mortise.core.composite.AggregateFailure;
import io.mortise.core.spi.OwnedLease;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The votes of the nodes at one moment of a round, and their decision.
 *
 * @param refused how many are held by others
 * @param pending how many have not replied, and may still do so
 * @param remembering how many of those that have granted remember a token
 */
record VoteCount(int nodes, int granted, int refused, int pending, int remembering) {

  /** Counts the replies so far; null for a node that has not replied. */
  static VoteCount of(List<? extends @Nullable NodeReply<Optional<OwnedLease>>> replies) {
    int granted = 0;
    int refused = 0;
    int pending = 0;
    int remembering = 0;
    for (NodeReply<Optional<OwnedLease>> reply : replies) {
      Optional<OwnedLease> vote = reply == null ? null : reply.value();
      if (vote != null) {
        granted += vote.isPresent() ? 1 : 0;
        refused += vote.isEmpty() ? 1 : 0;
        remembering += vote.filter(lease -> lease.lastToken() > 0).isPresent() ? 1 : 0;
      }
      pending += reply == null ? 1 : 0;
    }
    return new VoteCount(replies.size(), granted, refused, pending, remembering);
  }

  private int quorum() {
    return QuorumMembers.majorityOf(nodes);
  }

  /** Returns whether a majority has granted. */
  boolean isWon() {
    return granted >= quorum();
  }

  /** Returns whether a majority has refused, so that a holder exists. */
  boolean hasHolder() {
    return refused >= quorum();
  }

  /**
   * Returns whether a majority has granted and its tokens suffice, or whether no majority is
   * possible and the pending replies cannot change the reason.
   */
  boolean isDecided() {
    return isWon()
        ? tokensSuffice()
        : granted + pending < quorum()
            && isHeldByOthers(refused) == isHeldByOthers(refused + pending);
  }

  /**
   * Returns whether one of the nodes that have granted remembers the last holder's token. The last
   * token is stored on a majority, so {@code n - quorum + 1} nodes that remember a token include
   * one that remembers the last. Fewer are not enough once a node has lost its data: that node may
   * be the only one that two majorities share. If no node remembers a token, the name is new.
   */
  private boolean tokensSuffice() {
    return remembering == 0 || remembering > nodes - quorum();
  }

  /**
   * Returns whether a lost round was lost because others hold nodes: the nodes that answered are a
   * majority, or the nodes that others do not hold are none. Otherwise too few nodes answer.
   */
  boolean isHeldByOthers() {
    return isHeldByOthers(refused);
  }

  private boolean isHeldByOthers(int refusals) {
    return granted + refusals >= quorum() || nodes - refusals < quorum();
  }

  /**
   * Returns the failure of a round in which too few nodes answered. It is transient while enough
   * nodes may still grant; the first failure decides on the reason.
   *
   * @param failures why the other nodes did not answer
   */
  LockException failure(String lock, List<RuntimeException> failures) {
    List<RuntimeException> ordered = new ArrayList<>();
    List<RuntimeException> permanent = new ArrayList<>();
    for (RuntimeException failure : failures) {
      (AggregateFailure.isTransient(failure) ? ordered : permanent).add(failure);
    }
    boolean isTransient = !ordered.isEmpty() && nodes - refused - permanent.size() >= quorum();
    ordered.addAll(isTransient ? ordered.size() : 0, permanent);
    return AggregateFailure.of(
        lock, "no majority of %d nodes, %d are needed".formatted(nodes, quorum()), ordered);
  }
}
