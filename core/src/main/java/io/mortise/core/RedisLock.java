package io.mortise.core;

import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.PlainLockProtocol;
import io.mortise.core.spi.ProtocolLeaseSource;
import java.util.Objects;

/**
 * An exclusive lock, reentrant by thread: one hash in Redis, renewed while it is held. A message
 * wakes its waiters when it is released.
 *
 * <p><b>Order.</b> A release notifies one waiting client, the one that has waited longest. Nothing
 * is reserved for it: the first client that asks after the release acquires the lock. A notified
 * client that finds the lock taken goes back to the front. If it does not ask within 25 ms, the
 * next client is notified. In return a cycle costs two commands; a fair lock keeps the order of
 * arrival at a higher cost. Threads of one client queue in the order of arrival. While a hold is
 * handed from one thread to the next (see {@link LockTuning#maxHandOffs}), other threads may barge
 * up to eight times in a row before the first in the queue has woken up.
 *
 * <p><b>In Redis:</b> the hash {@code name} with the holder as its one field; {@code
 * redisson_lock_token:{name}} with the last fencing token; {@code mortise_waiters:{name}} with
 * those that wait; the channel {@code redisson_lock__channel:{name}}, and one of each waiting
 * client. A {@code Lock} of Redisson on the same name excludes this one, and is excluded and woken
 * by it.
 *
 * <p><b>Threads.</b> Any thread may call any method. {@link DistributedLock} describes everything
 * else.
 */
public final class RedisLock extends LeaseBackedLock {

  /**
   * Creates the lock of that name. Sends nothing.
   *
   * @param name the key in Redis, behind the namespace of the client; not blank, and together with
   *     it at most 1,024 characters. On a cluster a hash tag in it ({@code {...}}) determines the
   *     slot
   * @throws IllegalArgumentException if the name is blank or too long, has an opening brace that
   *     makes no hash tag, or half of a surrogate pair
   */
  public RedisLock(LockClient client, String name) {
    super(
        ProtocolLeaseSource.of(
            Objects.requireNonNull(client, "client"),
            new PlainLockProtocol(LockName.of(client.options(), name), client.options())));
  }
}
