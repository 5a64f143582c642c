package io.mortise.spring.boot.integration;

import io.mortise.core.LockClient;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * A {@link LockRegistry} of Spring Integration whose locks are plain locks of Mortise: for
 * aggregators, resequencers, file readers and leader election over all nodes.
 *
 * <p>The lock of a key has the name <code>prefix + key.toString()</code>, so a key needs a {@code
 * toString()} that is the same in all processes: strings, numbers and {@code UUID}s have one. The
 * registry keeps nothing: no lock has to be expired. A lock without a time-to-live is renewed until
 * it is released, so nothing has to renew it either; one with a time-to-live ends with it.
 *
 * <p>A lock that was lost before its release throws {@code LeaseLostException}, an {@code
 * IllegalMonitorStateException}, from {@code unlock()}.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it. The thread that acquires a lock owns it.
 */
public final class MortiseLockRegistry implements LockRegistry<DistributedLock> {
  private final LockClient client;
  private final String prefix;

  /**
   * Creates the registry.
   *
   * @param prefix the beginning of all names, after the client's namespace; may be empty
   */
  public MortiseLockRegistry(LockClient client, String prefix) {
    this.client = Objects.requireNonNull(client, "client");
    this.prefix = Objects.requireNonNull(prefix, "prefix");
  }

  /**
   * Returns the lock of that key. Sends nothing.
   *
   * @throws IllegalArgumentException if the name is blank or longer than 1,024 characters, has an
   *     opening brace that makes no hash tag, or half of a surrogate pair
   */
  @Override
  public DistributedLock obtain(Object lockKey) {
    Objects.requireNonNull(lockKey, "lockKey");
    return new RegistryLock(client.lock(prefix + lockKey));
  }

  /** A lock of Mortise with the methods that Spring Integration expects. */
  private record RegistryLock(io.mortise.core.DistributedLock delegate) implements DistributedLock {

    @Override
    public void lock() {
      delegate.lock();
    }

    @Override
    public void lock(Duration ttl) {
      delegate.withLease(Objects.requireNonNull(ttl, "ttl")).lock();
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
      delegate.lockInterruptibly();
    }

    @Override
    public boolean tryLock() {
      return delegate.tryLock();
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
      return delegate.tryLock(time, unit);
    }

    @Override
    public boolean tryLock(Duration waitTime, Duration ttl) throws InterruptedException {
      Objects.requireNonNull(waitTime, "waitTime");
      return delegate.tryLock(waitTime, Objects.requireNonNull(ttl, "ttl"));
    }

    @Override
    public void unlock() {
      delegate.unlock();
    }

    @Override
    public Condition newCondition() {
      return delegate.newCondition();
    }
  }
}
