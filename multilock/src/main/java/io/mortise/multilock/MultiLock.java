package io.mortise.multilock;

import io.mortise.core.DistributedLock;
import io.mortise.core.spi.LeaseBackedLock;
import java.util.Arrays;
import java.util.Collection;
import java.util.Objects;

/**
 * Several locks as one: a thread holds all of them, or none.
 *
 * <p>The members may be of any family, of any client, on any server; a member that is a {@code
 * MultiLock} stands for its own members. They are acquired in the same order in all processes,
 * whatever the order in which they are given, and each once.
 *
 * <pre>{@code
 * Lock both = new MultiLock(new RedisLock(client, "account:7"), new RedisLock(client, "account:8"));
 * both.lock();
 * try {
 *   transfer();
 * } finally {
 *   both.unlock();
 * }
 * }</pre>
 *
 * <p><b>Owners.</b> A thread that locks this lock owns each of its members: it may also lock them
 * separately, before or during the hold, and re-enters them then. A handle ({@code acquire}, {@code
 * tryAcquire}, {@code acquireAsync}) is made of handles of the members. Two objects are the same
 * lock if their members are the same.
 *
 * <p><b>Waiting.</b> One wait covers all members. An acquisition that holds none of them may wait
 * until its wait ends; one that holds some does not wait at first, and later only for a short time
 * (25 or 50 ms, in a round of four 0.2 to 3.2 s). Then it releases all, and waits first for the
 * member that was busy, while holding none. So a thread that locks the members separately, in
 * another order, makes progress, and so does this acquisition. {@code false}, or an empty {@code
 * Optional}, means that one of the members is busy.
 *
 * <p><b>The lease.</b> The hold is lost when one member is. A handle releases the other members at
 * that moment; a thread keeps them until it knows of the loss, or unlocks. A lease given by the
 * caller applies to each member, and begins when the last one has been acquired, give or take a
 * tenth of it. Without one, each member is renewed under the settings of its own client.
 *
 * <p><b>The fencing token</b> is one for all members: larger than that of every earlier holder of
 * any of them, alone or together with others, and smaller than that of every later one, as long as
 * the tokens are remembered ({@link io.mortise.core.LockTuning#tokenRetention()}); after that the
 * servers' clocks decide. It is not smaller than the token of a member that the thread held before.
 *
 * <p><b>Cost.</b> Members that are plain locks of one client are acquired in one round trip, and
 * released in one. Every other member costs its own; and members on different servers, or of
 * different families, cost one more for the token.
 *
 * <p><b>Errors.</b> After any error none of the members is held, or it is being released in the
 * background, because its server took all of the wait; the error names all failures. When Redis
 * cannot be used, a wait releases all members and tries again, as every lock does.
 *
 * <p><b>Questions.</b> {@code isLocked()} returns whether any of the members is held, so that this
 * lock cannot be acquired. {@code remainingLease()} is the longest of theirs. {@code forceUnlock()}
 * releases all of them.
 *
 * <p><b>In Redis</b> it has no key of its own. A {@code MultiLock} of Redisson over the same names
 * excludes this one and is excluded by it; it acquires its members in the order in which they were
 * given to it.
 *
 * <p><b>What is not guaranteed.</b> There is no order between waiters, even if the members are
 * fair.
 *
 * <p><b>Threads.</b> Any thread may call any method. {@link DistributedLock} describes everything
 * else.
 */
public final class MultiLock extends LeaseBackedLock {

  /**
   * Creates the lock of these members. Sends nothing.
   *
   * @param members at least one Mortise lock; a duplicate counts once
   * @throws IllegalArgumentException if there is none; if two are one name on one server, as the
   *     two sides of a read-write lock are, or a lock and a fair lock of one name; or if one is not
   *     made of leases (see {@link LeaseBackedLock}). Two addresses of one server are detected when
   *     the lock is acquired, and cause an {@link IllegalStateException} there
   */
  public MultiLock(DistributedLock... members) {
    this(Arrays.asList(Objects.requireNonNull(members, "members")));
  }

  /**
   * Creates the lock of these members. Sends nothing.
   *
   * @param members as {@link #MultiLock(DistributedLock...)}
   */
  public MultiLock(Collection<? extends DistributedLock> members) {
    super(MultiLeaseSource.of(Objects.requireNonNull(members, "members")));
  }
}
