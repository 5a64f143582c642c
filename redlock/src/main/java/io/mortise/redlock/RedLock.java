package io.mortise.redlock;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.core.spi.LeaseBackedLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A lock on a majority of several independent Redis servers, by the <a
 * href="https://redis.io/docs/latest/develop/use/patterns/distributed-locks/">Redlock</a>
 * algorithm. It works while any minority is down, paused, slow, cut off, or has lost its data.
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
 * <p><b>The members</b> may be locks of any family, also {@code MultiLock}s, except the sides of a
 * read-write lock: these depend on what their thread holds on the same server.
 *
 * <p><b>The nodes</b> must fail independently: each is its own master, not the replica of another.
 * The majority is counted over all nodes, including nodes that do not answer: 2 of 3, 3 of 4, 3 of
 * 5. An even number of nodes tolerates no more failures than the odd number below it.
 *
 * <p><b>Asking.</b> All nodes are asked at the same time, each on a thread of its own client. The
 * lock is acquired as soon as a majority has granted it, without a wait for the other nodes. A node
 * has a <em>budget</em> of time to answer: a hundredth of the lease, at least 50 ms and at most 1
 * s, but at most a quarter of the lease; {@link Builder#nodeWaitBudget} sets another one. A node
 * that takes longer costs that budget if its vote decides, and nothing otherwise. A node that
 * grants after the others have decided joins the hold; if there is no majority, or the hold has
 * ended, its grant is released.
 *
 * <p><b>Waiting.</b> A waiter that gets no majority releases all nodes and waits at one node, until
 * the message of that node arrives; the first waiter that acquires it asks the others. So the
 * waiters do not split the votes between them. Threads of one process that want the same members
 * ask one after the other: a wait may spend half of its time before it asks a node, as long as the
 * nodes answer the thread whose turn it is; without an answer, a second or five budgets. An
 * interrupt ends a wait immediately; if an attempt at that one node hangs at that moment, after two
 * budgets.
 *
 * <p><b>Validity.</b> Each node's grant counts from before its request was sent, for the lease,
 * less the drift of the clocks ({@link io.mortise.core.LockTuning#clockDrift()} of the lease, 1 %,
 * and 2 ms more). The hold is valid while a majority of the grants is; {@code remaining()} returns
 * for how long that is certain. A majority whose leases have run out on arrival does not count.
 *
 * <p><b>While it is held</b> each node is renewed separately. A node that loses the hold (a restart
 * without data, an expiry while it was cut off) is reacquired while a majority is valid, and so is
 * a node that was missing from the start; {@link QuorumLease} reports how many are valid. Below a
 * majority the hold is lost, and its owner is notified. A node that loses the hold is logged as a
 * warning. A node that cannot be used is logged as a warning too, once for each outage: immediately
 * if the failure is permanent (a wrong password), otherwise after a second.
 *
 * <p><b>The fencing token</b> is larger than that of every earlier holder, and a majority of the
 * nodes remembers it before the lock is granted, so that the next majority, which shares a node
 * with this one, begins above it. That costs one more round trip when the nodes' clocks differ by
 * more than the time since the last holder acquired the lock: then the largest token is written
 * back (read repair). If only some nodes of a majority remember a token, because one has lost its
 * data, more nodes are asked. When the tokens of a name are forgotten everywhere ({@link
 * io.mortise.core.LockTuning#tokenRetention()}), or by all nodes that the next holder reaches, the
 * servers' clocks decide; they must not differ by more than the time since then.
 *
 * <p><b>Errors.</b> {@code false}, or an empty {@code Optional}, means that others hold nodes, and
 * the remaining nodes are no majority; a minority that is down makes no difference. When a majority
 * does not answer, a wait goes on and tries again. If it still does not answer at the end of the
 * wait, and did not for the longer part of it, a {@link io.mortise.core.LockException} reports the
 * failure of each node.
 *
 * <p><b>Questions.</b> {@code isLocked()} returns whether a majority is held, and {@code
 * remainingLease()} for how long; both throw if too few nodes answer. {@code forceUnlock()}
 * releases the lock on every node that answers, and throws if those are no majority. A node that
 * has not answered within its budget may release it later, and so hit the next holder there.
 *
 * <p><b>In Redis</b> it has no key of its own. A {@code RedissonRedLock} over the same names and
 * nodes excludes this one, and is excluded by it.
 *
 * <p><b>What is not guaranteed.</b> There is no order between waiters. Nothing stops a holder that
 * is suspended for longer than its lease; use the fencing token. If nodes that make up a majority
 * with others lose their data within one lease, two clients may hold the lock: give such nodes
 * storage that survives, or keep them down for a lease.
 *
 * <p><b>Threads.</b> Any thread may call any method. {@link DistributedLock} describes everything
 * else.
 */
public final class RedLock extends LeaseBackedLock {

  /**
   * Creates the lock of these members. Sends nothing.
   *
   * @param members Mortise locks, each on its own server
   * @throws IllegalArgumentException if there is none; if two are on one server, judged by their
   *     addresses; or if one is not made of leases (see {@link LeaseBackedLock}). Two addresses of
   *     one server are detected when both have answered, and cause an {@link IllegalStateException}
   */
  public RedLock(DistributedLock... members) {
    this(Arrays.asList(Objects.requireNonNull(members, "members")));
  }

  /**
   * Creates the lock of these members. Sends nothing.
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
    if (Objects.requireNonNull(members, "members").isEmpty()) {
      throw new IllegalArgumentException("a RedLock needs at least one member");
    }
    return new QuorumLeaseSource(
        LeaseBackedLock.sourcesOf(members).stream().map(QuorumMember::of).toList(), budget);
  }

  /** Collects nodes and settings. */
  public static Builder builder() {
    return new Builder();
  }

  /** Collects nodes and settings. */
  public static final class Builder {
    private static final Duration MIN_BUDGET = Duration.ofMillis(1);
    private static final Duration MAX_BUDGET = Duration.ofHours(1);

    private final List<DistributedLock> members = new ArrayList<>();
    private @Nullable Duration budget;

    private Builder() {}

    /** Adds a lock on a node. */
    public Builder member(DistributedLock lock) {
      members.add(Objects.requireNonNull(lock, "lock"));
      return this;
    }

    /**
     * Adds a {@link RedisLock} of that name on the node of each of these clients.
     *
     * @throws IllegalArgumentException if the name is blank or too long
     */
    public Builder members(String name, Collection<LockClient> clients) {
      Objects.requireNonNull(name, "name");
      Objects.requireNonNull(clients, "clients");
      members.addAll(clients.stream().map(client -> new RedisLock(client, name)).toList());
      return this;
    }

    /**
     * Sets how long a node may take to answer.
     *
     * @param nodeWaitBudget from 1 ms to 1 h; should be a small part of the lease. Shorter: a node
     *     that hangs costs less when its vote decides. Longer: a slow network loses fewer votes
     * @throws IllegalArgumentException if it is out of that range
     */
    public Builder nodeWaitBudget(Duration nodeWaitBudget) {
      Objects.requireNonNull(nodeWaitBudget, "nodeWaitBudget");
      if (nodeWaitBudget.compareTo(MIN_BUDGET) < 0 || nodeWaitBudget.compareTo(MAX_BUDGET) > 0) {
        throw new IllegalArgumentException(
            "nodeWaitBudget must be from %s to %s, not %s"
                .formatted(MIN_BUDGET, MAX_BUDGET, nodeWaitBudget));
      }
      budget = nodeWaitBudget;
      return this;
    }

    /**
     * Returns the lock. Sends nothing.
     *
     * @throws IllegalArgumentException as the constructors do
     */
    public RedLock build() {
      return new RedLock(members, budget);
    }
  }
}
