package io.mortise.spring.boot;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.rwlock.RedisReadWriteLock;
import java.util.Objects;

/** The kind of the lock of a {@link Locked} method. */
public enum LockType {
  /** A {@code RedisLock}: the first to ask after a release gets it. */
  PLAIN,
  /** A {@code RedisFairLock}: in order of request over all processes. */
  FAIR,
  /** The read lock of a {@code RedisReadWriteLock}: together with other readers. */
  READ,
  /** The write lock of a {@code RedisReadWriteLock}: alone. */
  WRITE;

  /**
   * Returns the lock of this kind and that name, in the client's namespace. Sends nothing.
   *
   * @throws IllegalArgumentException if the name is blank or longer than 1,024 characters, has an
   *     opening brace that makes no hash tag, or half of a surrogate pair
   */
  public DistributedLock lock(LockClient client, String name) {
    Objects.requireNonNull(client, "client");
    return switch (this) {
      case PLAIN -> client.lock(name);
      case FAIR -> new RedisFairLock(client, name);
      case READ -> new RedisReadWriteLock(client, name).readLock();
      case WRITE -> new RedisReadWriteLock(client, name).writeLock();
    };
  }
}
