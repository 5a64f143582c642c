package io.mortise.core;

import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.ProtocolLeaseSource;

/**
 * An exclusive lock, reentrant by thread: one hash in Redis, renewed while it is held, its waiters
 * woken by a message when it is released.
 *
 * <p><b>Order.</b> Between processes there is none: whoever asks first after a release has it. That
 * is the price of two commands a cycle; a fair lock keeps the order of arrival, for more. Threads
 * of one client stand in line; while a hold passes from one to the next (see {@link
 * LockOptions#maxHandOffs}), a thread that asks may take it up to eight times in a row before the
 * first in line has woken up.
 *
 * <p><b>In Redis:</b> the hash {@code name} with the holder as its one field; {@code
 * redisson_lock_token:{name}} with the last fencing token; the channel {@code
 * redisson_lock__channel:{name}}. A {@code Lock} of Redisson on the same name excludes this one,
 * and is excluded and woken by it.
 *
 * <p>All else is said at {@link DistributedLock}.
 */
public final class RedisLock extends LeaseBackedLock {

  /**
   * The lock of that name. Sends nothing.
   *
   * @param name the key in Redis; not blank, at most 1,024 characters. On a cluster a hash tag in
   *     it ({@code {...}}) decides on the slot
   * @throws IllegalArgumentException if the name is blank or too long, or has an opening brace that
   *     makes no hash tag
   */
  public RedisLock(LockClient client, String name) {
    super(
        ProtocolLeaseSource.of(
            client, new PlainLockProtocol(new LockName(name), client.options())));
  }
}
