package io.mortise.multilock;

import io.mortise.core.DistributedLock;
import io.mortise.core.spi.LeaseBackedLock;
import java.util.Collection;
import java.util.List;

/**
 * Several locks as one: a thread holds all of them, or none.
 *
 * <p>The members may be of any family, of any client, on any server; a member that is a {@code
 * MultiLock} stands for its own members. They are taken in one order in all processes, whatever the
 * order in which they are given, and each once.
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
 * <p><b>Owners.</b> A thread that locks this lock owns each of its members: it may lock them by
 * themselves too, before or meanwhile, and re-enters then. A handle ({@code acquire}, {@code
 * tryAcquire}, {@code acquireAsync}) is made of handles of the members. Two objects are the same
 * lock if their members are the same.
 *
 * <p><b>Waiting.</b> One wait covers all members. Without any of them in hand it waits for as long
 * as it may; with some in hand only for a short time (25 ms at first, never more than 3.2 s). Then
 * all are given back, and after a short random pause the one that was busy is waited for first,
 * with nothing in hand. So whoever takes the members by himself, in another order, makes progress,
 * and so does this one. {@code false}, or an empty {@code Optional}, means that somebody else holds
 * one of them.
 *
 * <p><b>The lease.</b> The hold is lost when one member is. A handle gives the other members back
 * at that moment; a thread keeps them until it unlocks. A lease of the caller's is that of each
 * member, and begins when the last one has been taken, give or take a tenth of it. Without one,
 * each member is renewed under the settings of its own client.
 *
 * <p><b>The fencing token</b> is one for all members: larger than that of every earlier holder of
 * any of them, alone or together with others, and smaller than that of every later one, as long as
 * the tokens are remembered ({@link io.mortise.core.LockOptions#tokenRetention()}); after that the
 * servers' clocks decide.
 *
 * <p><b>Cost.</b> Members that are plain locks of one client are taken in one round trip, and given
 * back in one. Every other one costs its own; and members on different servers, or of different
 * families, one more for the token.
 *
 * <p><b>Errors.</b> Whatever goes wrong, none of the members is held afterwards; the error names
 * all that went wrong. When Redis cannot be used, a wait gives all back and tries again, as every
 * lock does.
 *
 * <p><b>Questions.</b> {@code isLocked()} says whether anybody holds any of the members, so that
 * this lock cannot be had. {@code remainingLease()} is the longest of theirs. {@code forceUnlock()}
 * takes all of them.
 *
 * <p><b>In Redis</b> it has no key of its own. A {@code MultiLock} of Redisson over the same names
 * excludes this one and is excluded by it; it takes its members in the order in which they were
 * given to it.
 *
 * <p><b>What is not guaranteed.</b> There is no order between those who wait, also when the members
 * are fair. All else is said at {@link DistributedLock}.
 */
public final class MultiLock extends LeaseBackedLock {

  /**
   * The lock of these members. Sends nothing.
   *
   * @param members locks of Mortise's; at least one. The same one twice counts once
   * @throws IllegalArgumentException if there is none; if two are one name on one server, as the
   *     two sides of a read-write lock are, or a lock and a fair lock of one name; or if one is not
   *     made of leases (see {@link LeaseBackedLock}). Two addresses of one server are found out
   *     when it is locked, by the same exception
   */
  public MultiLock(DistributedLock... members) {
    this(List.of(members));
  }

  /**
   * The lock of these members. Sends nothing.
   *
   * @param members as {@link #MultiLock(DistributedLock...)}
   */
  public MultiLock(Collection<? extends DistributedLock> members) {
    super(MultiLeaseSource.of(members));
  }
}
