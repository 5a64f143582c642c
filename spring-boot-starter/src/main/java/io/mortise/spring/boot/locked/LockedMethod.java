package io.mortise.spring.boot.locked;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.spring.boot.LockType;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The settings of one method's annotation, after all checks.
 *
 * <p><b>Threads.</b> Immutable; any thread may call any method.
 *
 * @param returnType the type of the result, with the type variables of the bean's class resolved
 * @param waitTime empty for that of the property
 * @param lease empty for that of the client, which is renewed
 * @param atLeast zero for none
 * @param busy what a call does that does not get the lock
 */
record LockedMethod(
    Method method,
    Class<?> returnType,
    LockNameTemplate name,
    LockType type,
    Optional<Duration> waitTime,
    Optional<Duration> lease,
    Duration atLeast,
    BusyAnswer busy) {

  /** Returns the lock of a call with these arguments. Sends nothing. */
  DistributedLock lock(LockClient client, Object target, @Nullable Object[] arguments) {
    DistributedLock lock = type.lock(client, name.evaluate(target, arguments));
    DistributedLock leased = lease.map(lock::withLease).orElse(lock);
    return atLeast.isZero() ? leased : leased.atLeast(atLeast);
  }

  /**
   * Returns whether the current thread reads what this method writes. Its call would wait for
   * itself, unless the thread writes already.
   */
  boolean isUpgrade(LockClient client, Object target, @Nullable Object[] arguments) {
    return type == LockType.WRITE
        && LeaseBackedLock.holdOfCurrentThread(
                LockType.READ.lock(client, name.evaluate(target, arguments)))
            .filter(Lease::isValid)
            .isPresent();
  }

  /** Returns whether the work may go on after the method has returned, until a stage completes. */
  boolean returnsStage() {
    return DeferredWork.isAwaited(returnType);
  }

  /**
   * Checks what a call has returned that holds the lock no longer than the method runs.
   *
   * @throws IllegalStateException if its work may go on
   */
  void checkEnded(@Nullable Object result) {
    DeferredWork.checkReturned(method, returnType, result);
  }

  /** Returns whether a caller expects an {@code InterruptedException}. */
  boolean declaresInterrupt() {
    return Arrays.stream(method.getExceptionTypes())
        .anyMatch(type -> type.isAssignableFrom(InterruptedException.class));
  }

  @Override
  public String toString() {
    return "@Locked on " + LockNameTemplate.describe(method);
  }
}
