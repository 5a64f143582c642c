package io.mortise.redlock;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.core.spi.LeaseBackedLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One lock on several independent Redis servers: held by whoever holds it on a majority of them. It
 * goes on while any minority is dead, paused, slow, cut off, or has lost its data.
 *
 * <pre>{@code
 * Lock lock = new RedLock(
 *     new RedisLock(client1, "report"),
 *     new RedisLock(client2, "report"),
 *     new RedisLock(client3, "report"));
 * lock.lock();
 * try {
 *   // the critical section
 * } finally {
 *   lock.unlock();
 * }
 * }</pre>
 *
 * <p><b>The members</b> may be locks of any family but a read-write lock's sides, which decide by
 * what their thread holds on the same server; also {@code MultiLock}s.
 *
 * <p><b>The nodes</b> must fail independently: masters of their own, not a master and its replica.
 * The majority is one of all nodes, also of those that do not answer: 2 of 3, 3 of 4, 3 of 5. An
 * even number survives no more than the odd one below it.
 *
 * <p><b>Asking.</b> All nodes are asked at the same time, each on a thread of its own client. The
 * answer is yes as soon as a majority has said so; nobody waits for the others. A node has a
 * <em>budget</em> of time to answer (a hundredth of the lease, at least 50 ms and at most 1 s, but
 * never more than a quarter of the lease, unless it is given); one that takes longer costs that
 * budget if its vote decides, and nothing if it does not. A node that says yes after the others
 * have decided joins the hold; when there is no majority, or no hold any more, it is given back.
 *
 * <p><b>Waiting.</b> Who cannot have a majority gives all back and waits at one node, woken by its
 * message; who is first there asks the others. So those who wait do not split the votes between
 * them. An interrupt ends a wait at once; if an attempt at that one node hangs just then, at the
 * end of two budgets.
 *
 * <p><b>Validity.</b> Each node's grant counts from before its request was sent, for the lease,
 * less the drift of the clocks ({@link io.mortise.core.LockOptions#clockDrift()} of the lease, 1 %,
 * and 2 ms more). The hold is valid while a majority of the grants is; {@code remaining()} says for
 * how long that is sure. A majority that is over on arrival is none.
 *
 * <p><b>While it is held</b> each node is renewed by itself. One that loses the hold (a restart
 * without data, an expiry while it was cut off) is taken again while a majority stands, and so is
 * one that was missing from the start; {@link QuorumLease} says how many there are. Below a
 * majority the hold is lost, and told. A node that loses the hold is logged as a warning, and so is
 * one that cannot be used: once for each outage, at once if it does not pass by itself (a wrong
 * password), otherwise after a second.
 *
 * <p><b>The fencing token</b> is larger than that of every earlier holder, and a majority of the
 * nodes remembers it before the lock is given out, so that the next majority, which shares a node
 * with this one, begins above it. That costs one more round trip when the nodes' clocks stand apart
 * by more than the time since the last holder came: then the largest token is written back. If
 * nodes of a majority remember different things, because one came back without its data, more are
 * asked. When the tokens of a name are forgotten everywhere ({@link
 * io.mortise.core.LockOptions#tokenRetention()}), or by all nodes that the next holder reaches, the
 * servers' clocks decide; they must not stand apart by more than the time since then.
 *
 * <p><b>Errors.</b> {@code false}, or an empty {@code Optional}, means that others hold nodes, and
 * the rest is no majority; that a minority is dead changes nothing about it. When a majority does
 * not answer, a wait goes on and tries again. If that is so at its end, and was for the longer part
 * of it, a {@link io.mortise.core.LockException} tells what each node said.
 *
 * <p><b>Questions.</b> {@code isLocked()} says whether a majority is held by anybody, and {@code
 * remainingLease()} for how long; both throw if too few nodes answer. {@code forceUnlock()} takes
 * the lock on every node that answers, and throws if those are no majority.
 *
 * <p><b>In Redis</b> it has no key of its own. A {@code RedissonRedLock} over the same names and
 * nodes excludes this one, and is excluded by it.
 *
 * <p><b>What is not guaranteed.</b> No order between those who wait. A holder that is suspended for
 * longer than its lease is stopped by nobody; use the fencing token. If nodes that make up a
 * majority with others lose their data within one lease, two may hold it: give such nodes storage
 * that survives, or keep them down for a lease. All else is said at {@link DistributedLock}.
 */
public final class RedLock extends LeaseBackedLock {

  /**
   * The lock of these members. Sends nothing.
   *
   * @param members locks of Mortise's, on a server each
   * @throws IllegalArgumentException if there is none; if two are on one server, as far as their
   *     addresses tell; or if one is not made of leases (see {@link LeaseBackedLock}). Two
   *     addresses of one server are found out when both have answered, by an {@link
   *     IllegalStateException}
   */
  public RedLock(DistributedLock... members) {
    this(List.of(members));
  }

  /**
   * The lock of these members. Sends nothing.
   *
   * @param members as {@link #RedLock(DistributedLock...)}
   */
  public RedLock(Collection<? extends DistributedLock> members) {
    this(members, null);
  }

  private RedLock(Collection<? extends DistributedLock> members, @Nullable Duration budget) {
    super(source(members, budget));
  }

  private static QuorumLeaseSource source(
      Collection<? extends DistributedLock> members, @Nullable Duration budget) {
    if (members.isEmpty()) {
      throw new IllegalArgumentException("a RedLock needs at least one member");
    }
    return new QuorumLeaseSource(
        members.stream().map(lock -> QuorumMember.of(LeaseBackedLock.sourceOf(lock))).toList(),
        budget);
  }

  /** Collects nodes and settings. */
  public static Builder builder() {
    return new Builder();
  }

  /** Collects nodes and settings. */
  public static final class Builder {
    private static final Duration LEAST_BUDGET = Duration.ofMillis(1);
    private static final Duration MOST_BUDGET = Duration.ofHours(1);

    private final List<DistributedLock> members = new ArrayList<>();
    private @Nullable Duration budget;

    private Builder() {}

    /** A lock on a node. */
    public Builder member(DistributedLock lock) {
      members.add(Objects.requireNonNull(lock, "lock"));
      return this;
    }

    /**
     * A {@link RedisLock} of that name on the node of each of these clients.
     *
     * @throws IllegalArgumentException if the name is blank or too long
     */
    public Builder members(String name, Collection<LockClient> clients) {
      clients.forEach(client -> member(new RedisLock(client, name)));
      return this;
    }

    /**
     * For how long a node may take to answer.
     *
     * @param budget from 1 ms to 1 h; should be a small part of the lease. Shorter: a node that
     *     hangs costs less when its vote decides. Longer: a slow network loses fewer votes
     * @throws IllegalArgumentException if it is out of that range
     */
    public Builder nodeWaitBudget(Duration budget) {
      if (budget.compareTo(LEAST_BUDGET) < 0 || budget.compareTo(MOST_BUDGET) > 0) {
        throw new IllegalArgumentException(
            "nodeWaitBudget must be from %s to %s, not %s"
                .formatted(LEAST_BUDGET, MOST_BUDGET, budget));
      }
      this.budget = budget;
      return this;
    }

    /**
     * The lock. Sends nothing.
     *
     * @throws IllegalArgumentException as the constructors do
     */
    public RedLock build() {
      return new RedLock(members, budget);
    }
  }
}
