package io.mortise.spring.boot.locked;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.spi.CurrentHold;
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

  /**
   * Returns the lock of a call with these arguments. Sends nothing.
   *
   * @throws IllegalStateException if the current thread reads what this method writes, and would
   *     wait for itself
   */
  DistributedLock lock(LockClient client, Object target, @Nullable Object[] arguments) {
    String evaluated = name.evaluate(target, arguments);
    DistributedLock lock = type.lock(client, evaluated);
    if (type == LockType.WRITE) {
      refuseUpgrade(lock, LockType.READ.lock(client, evaluated));
    }
    DistributedLock leased = lease.map(lock::withLease).orElse(lock);
    return atLeast.isZero() ? leased : leased.atLeast(atLeast);
  }

  private void refuseUpgrade(DistributedLock writes, DistributedLock reads) {
    boolean writesAlready = CurrentHold.of(writes).isPresent();
    if (!writesAlready && CurrentHold.of(reads).filter(Lease::isValid).isPresent()) {
      throw new IllegalStateException(
          "%s: this thread holds the read lock of '%s', and would wait for itself; call the method"
                  .formatted(this, writes.name())
              + " that writes before the one that reads, or after the lock of that is released");
    }
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
