package io.mortise.core.spi;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.internal.EngineLock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * The lock that the engine makes of a {@link LockProtocol}. A family extends it with a constructor,
 * and with what it alone can be asked.
 *
 * <p>Two objects are the same lock if client, kind and name are the same.
 */
public abstract class ProtocolLock implements DistributedLock {
  private final EngineLock engine;

  /** A lock of that client's. */
  protected ProtocolLock(LockClient client, LockProtocol protocol) {
    this.engine = EngineLock.of(Objects.requireNonNull(client, "client"), protocol);
  }

  /**
   * Asks Redis something that only this family can be asked.
   *
   * @return the answer: integers are {@code Long}, arrays are {@code List}
   * @throws io.mortise.core.LockException if Redis cannot be used
   */
  protected final Object query(ScriptCall call) {
    return engine.query(call);
  }

  /**
   * The holder ids under which threads of this client wait for this lock in a queue in Redis, in
   * the order in which they asked.
   */
  protected final List<String> waitingHolders() {
    return engine.waitingHolders();
  }

  @Override
  public final String name() {
    return engine.name();
  }

  @Override
  public final void lock() {
    engine.lock(null);
  }

  @Override
  public final void lock(Duration lease) {
    engine.lock(Objects.requireNonNull(lease, "lease"));
  }

  @Override
  public final void lockInterruptibly() throws InterruptedException {
    engine.lockInterruptibly(null);
  }

  @Override
  public final void lockInterruptibly(Duration lease) throws InterruptedException {
    engine.lockInterruptibly(Objects.requireNonNull(lease, "lease"));
  }

  @Override
  public final boolean tryLock() {
    return engine.tryLock();
  }

  @Override
  public final boolean tryLock(Duration wait) throws InterruptedException {
    return engine.tryLock(Objects.requireNonNull(wait, "wait"), null);
  }

  @Override
  public final boolean tryLock(Duration wait, Duration lease) throws InterruptedException {
    return engine.tryLock(
        Objects.requireNonNull(wait, "wait"), Objects.requireNonNull(lease, "lease"));
  }

  @Override
  public final void unlock() {
    engine.unlock();
  }

  @Override
  public final Optional<Lease> tryAcquire() {
    return engine.tryAcquire(null);
  }

  @Override
  public final Optional<Lease> tryAcquire(Duration lease) {
    return engine.tryAcquire(Objects.requireNonNull(lease, "lease"));
  }

  @Override
  public final Optional<Lease> acquire(Duration wait) throws InterruptedException {
    return engine.acquire(Objects.requireNonNull(wait, "wait"), null);
  }

  @Override
  public final Optional<Lease> acquire(Duration wait, Duration lease) throws InterruptedException {
    return engine.acquire(
        Objects.requireNonNull(wait, "wait"), Objects.requireNonNull(lease, "lease"));
  }

  @Override
  public final CompletionStage<Optional<Lease>> acquireAsync(Duration wait) {
    return engine.acquireAsync(Objects.requireNonNull(wait, "wait"), null);
  }

  @Override
  public final CompletionStage<Optional<Lease>> acquireAsync(Duration wait, Duration lease) {
    return engine.acquireAsync(
        Objects.requireNonNull(wait, "wait"), Objects.requireNonNull(lease, "lease"));
  }

  @Override
  public final Lease lease() {
    return engine.lease();
  }

  @Override
  public final boolean isLocked() {
    return engine.isLocked();
  }

  @Override
  public final boolean isHeldByCurrentThread() {
    return engine.holdCount() > 0;
  }

  @Override
  public final int holdCount() {
    return engine.holdCount();
  }

  @Override
  public final Optional<Duration> remainingLease() {
    return engine.remainingLease();
  }

  @Override
  public final boolean forceUnlock() {
    return engine.forceUnlock();
  }

  @Override
  public final boolean equals(Object other) {
    return other instanceof ProtocolLock lock && engine.equals(lock.engine);
  }

  @Override
  public final int hashCode() {
    return engine.hashCode();
  }

  @Override
  public final String toString() {
    return engine.toString();
  }
}
