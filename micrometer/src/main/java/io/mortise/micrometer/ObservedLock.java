package io.mortise.micrometer;

import io.micrometer.observation.ObservationRegistry;
import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockInspection;
import io.mortise.core.spi.CurrentHold;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A lock whose waits are observed, so that a trace shows them: each call that asks for the lock is
 * an {@link io.micrometer.observation.Observation}, a child of the current observation of the
 * calling thread. It begins with the call and ends when the call returns or throws; that of {@code
 * acquireAsync} ends with its stage.
 *
 * <pre>{@code
 * DistributedLock lock = ObservedLock.of(client.lock("orders"), observations);
 * }</pre>
 *
 * <p>It is the same lock as the one that it decorates: a thread that holds one of the two holds the
 * other. A re-entry waits for nothing, and is not observed. {@link LockWaitConvention} has the
 * names.
 *
 * <p><b>Locks of locks.</b> An observed {@code MultiLock} or {@code RedLock} is one observation. A
 * lock that is made of observed locks uses the undecorated ones, and observes nothing itself.
 *
 * <p><b>What is not observed.</b> The hold: it may end on another thread, where the parent is
 * another one. The caller's own observation shows it.
 *
 * <p><b>Failures.</b> A handler of the registry that throws is logged, and has no effect on the
 * lock.
 *
 * <p><b>Threads.</b> As the lock that it decorates.
 */
public final class ObservedLock implements DistributedLock {
  private final DistributedLock lock;
  private final ObservationRegistry registry;
  private final LockWaitConvention convention;

  private ObservedLock(
      DistributedLock lock, ObservationRegistry registry, LockWaitConvention convention) {
    this.lock = Objects.requireNonNull(lock, "lock");
    this.registry = Objects.requireNonNull(registry, "registry");
    this.convention = Objects.requireNonNull(convention, "convention");
  }

  /** As {@link #of(DistributedLock, ObservationRegistry, LockWaitConvention)} with the defaults. */
  public static DistributedLock of(DistributedLock lock, ObservationRegistry registry) {
    return of(lock, registry, LockWaitConvention.defaults());
  }

  /**
   * Returns the lock with its waits observed.
   *
   * @param convention names the observations
   */
  public static DistributedLock of(
      DistributedLock lock, ObservationRegistry registry, LockWaitConvention convention) {
    return new ObservedLock(lock, registry, convention);
  }

  // ---- the waits

  /** A call that asks for the lock, and that throws {@code E} when it is interrupted. */
  private interface Wait<T, E extends Exception> {
    T call() throws E;
  }

  private static final Object LOCKED = new Object();

  private <T, E extends Exception> T observed(Wait<T, E> wait) throws E {
    return ended(LockWaitObservation.start(registry, convention, lock.name()).openScope(), wait);
  }

  private static <T, E extends Exception> T ended(LockWaitObservation observation, Wait<T, E> wait)
      throws E {
    T result;
    try {
      result = wait.call();
    } catch (Throwable e) {
      observation.end(AcquireOutcome.of(e), e);
      throw e;
    }
    endWithResult(observation, result);
    return result;
  }

  /** Ends the observation, or leaves it without memory: the caller has to get the result. */
  private static void endWithResult(LockWaitObservation observation, @Nullable Object result) {
    try {
      boolean acquired =
          result != null && !result.equals(false) && !result.equals(Optional.empty());
      Object grant = result instanceof Optional<?> found ? found.orElse(null) : result;
      if (grant instanceof Lease lease) {
        observation.context().setFencingToken(lease.fencingToken());
      }
      observation.end(acquired ? AcquireOutcome.ACQUIRED : AcquireOutcome.NOT_ACQUIRED, null);
    } catch (Throwable notEnded) {
      // An exception after the grant would leave a hold that nobody releases.
    }
  }

  /** A wait of the calling thread as the owner: a re-entry is not observed. */
  private <T, E extends Exception> T observedUnlessHeld(Wait<T, E> wait) throws E {
    return CurrentHold.of(lock).isPresent() ? wait.call() : observed(wait);
  }

  private <R> CompletionStage<R> observedStage(Wait<CompletionStage<R>, RuntimeException> wait) {
    LockWaitObservation observation = LockWaitObservation.start(registry, convention, lock.name());
    CompletionStage<R> stage;
    try {
      stage = wait.call();
    } catch (Throwable e) {
      observation.end(AcquireOutcome.of(e), e);
      throw e;
    }
    var unused =
        stage.whenComplete(
            (lease, thrown) -> {
              if (thrown == null) {
                endWithResult(observation, lease);
              } else {
                observation.end(AcquireOutcome.of(thrown), thrown);
              }
            });
    return stage;
  }

  @Override
  public void lock() {
    var unused =
        this.<Object, RuntimeException>observedUnlessHeld(
            () -> {
              lock.lock();
              return LOCKED;
            });
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    var unused =
        this.<Object, InterruptedException>observedUnlessHeld(
            () -> {
              lock.lockInterruptibly();
              return LOCKED;
            });
  }

  @Override
  public boolean tryLock() {
    return this.<Boolean, RuntimeException>observedUnlessHeld(lock::tryLock);
  }

  @Override
  public boolean tryLock(Duration wait) throws InterruptedException {
    return this.<Boolean, InterruptedException>observedUnlessHeld(() -> lock.tryLock(wait));
  }

  @Override
  public boolean tryLock(Duration wait, Duration lease) throws InterruptedException {
    return this.<Boolean, InterruptedException>observedUnlessHeld(() -> lock.tryLock(wait, lease));
  }

  @Override
  public Optional<Lease> tryAcquire() {
    return this.<Optional<Lease>, RuntimeException>observed(lock::tryAcquire);
  }

  @Override
  public Lease acquire() throws InterruptedException {
    return this.<Lease, InterruptedException>observed(lock::acquire);
  }

  @Override
  public Optional<Lease> acquire(Duration wait) throws InterruptedException {
    return this.<Optional<Lease>, InterruptedException>observed(() -> lock.acquire(wait));
  }

  @Override
  public Optional<Lease> acquire(Duration wait, Duration lease) throws InterruptedException {
    return this.<Optional<Lease>, InterruptedException>observed(() -> lock.acquire(wait, lease));
  }

  @Override
  public CompletionStage<Lease> acquireAsync() {
    return observedStage(lock::acquireAsync);
  }

  @Override
  public CompletionStage<Optional<Lease>> acquireAsync(Duration wait) {
    return observedStage(() -> lock.acquireAsync(wait));
  }

  @Override
  public CompletionStage<Optional<Lease>> acquireAsync(Duration wait, Duration lease) {
    return observedStage(() -> lock.acquireAsync(wait, lease));
  }

  // ---- what is passed on

  @Override
  public String name() {
    return lock.name();
  }

  @Override
  public DistributedLock withLease(Duration lease) {
    return new ObservedLock(lock.withLease(lease), registry, convention);
  }

  @Override
  public DistributedLock atLeast(Duration minimum) {
    return new ObservedLock(lock.atLeast(minimum), registry, convention);
  }

  @Override
  public DistributedLock undecorated() {
    return lock.undecorated();
  }

  @Override
  public void unlock() {
    lock.unlock();
  }

  @Override
  public Lease lease() {
    return lock.lease();
  }

  @Override
  public boolean isLocked() {
    return lock.isLocked();
  }

  @Override
  public boolean isHeldByCurrentThread() {
    return lock.isHeldByCurrentThread();
  }

  @Override
  public int holdCount() {
    return lock.holdCount();
  }

  @Override
  public Optional<Duration> remainingLease() {
    return lock.remainingLease();
  }

  @Override
  public LockInspection inspect() {
    return lock.inspect();
  }

  @Override
  public boolean forceUnlock() {
    return lock.forceUnlock();
  }

  /** Compares the locks that are decorated. */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof ObservedLock that && lock.equals(that.lock);
  }

  @Override
  public int hashCode() {
    return lock.hashCode();
  }

  @Override
  public String toString() {
    return "observed " + lock;
  }
}
