package io.mortise.spring.boot.locked;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.spring.boot.LockNotAcquiredException;
import io.mortise.spring.boot.internal.LeaseStack;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanCreationException;

/**
 * Runs a method under its lock.
 *
 * <p><b>Threads.</b> Any thread may call it; each call is on its own.
 */
final class LockedInterceptor implements MethodInterceptor {
  private static final Logger LOG = LoggerFactory.getLogger(LockedInterceptor.class);

  private final LockedMethods methods;
  private final Supplier<LockClient> client;
  private final Supplier<LockDecorator> decorator;
  private final Duration defaultWait;
  private final ReleasePoint releasePoint;
  private final RunningCalls running;

  LockedInterceptor(
      LockedMethods methods,
      Supplier<LockClient> client,
      Supplier<LockDecorator> decorator,
      Duration defaultWait,
      ReleasePoint releasePoint,
      RunningCalls running) {
    this.methods = methods;
    this.client = client;
    this.decorator = decorator;
    this.defaultWait = defaultWait;
    this.releasePoint = releasePoint;
    this.running = running;
  }

  @Override
  public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
    Object target = target(invocation);
    Optional<LockedMethod> found = methods.find(invocation.getMethod(), target.getClass());
    if (found.isEmpty()) {
      return invocation.proceed();
    }
    running.begin();
    try {
      return runLocked(invocation, found.get(), target);
    } finally {
      running.end();
    }
  }

  private @Nullable Object runLocked(
      MethodInvocation invocation, LockedMethod method, Object target) throws Throwable {
    if (!method.returnsStage()) {
      return runAsOwner(invocation, method, lock(invocation, method, target));
    }
    try {
      return runWithHandle(invocation, method, lock(invocation, method, target));
    } catch (Exception e) {
      return failedStage(e); // as every other failure of the method
    }
  }

  private DistributedLock lock(MethodInvocation invocation, LockedMethod method, Object target) {
    DistributedLock lock = method.lock(client.get(), target, invocation.getArguments());
    return decorator().decorate(lock);
  }

  /** What observes may need a bean that is being made, and calls such a method meanwhile. */
  private LockDecorator decorator() {
    try {
      return decorator.get();
    } catch (BeanCreationException notYet) {
      LOG.debug("this call is not observed", notYet);
      return lock -> lock;
    }
  }

  /** The thread owns the lock, and may call other methods that need it. */
  private @Nullable Object runAsOwner(
      MethodInvocation invocation, LockedMethod method, DistributedLock lock) throws Throwable {
    Duration wait = method.waitTime().orElse(defaultWait);
    if (!interruptibly(method, lock, () -> lock.tryLock(wait))) {
      return busy(invocation, method, lock, wait);
    }
    boolean takenOver = false;
    Object result;
    try {
      takenOver = takeOver(lock);
      Lease lease = lock.lease();
      result = proceed(invocation, lease);
      method.checkEnded(result);
      if (takenOver) {
        lease.ensureValid(); // what registers during beforeCommit is not called before the commit
      }
    } catch (Throwable e) {
      if (!takenOver) {
        HoldRelease.releaseAfter(e, lock);
      }
      throw e;
    }
    if (!takenOver) {
      HoldRelease.release(lock);
    }
    return result;
  }

  /** The hold outlives the call, and belongs to no thread. */
  private @Nullable Object runWithHandle(
      MethodInvocation invocation, LockedMethod method, DistributedLock lock) throws Throwable {
    if (releasePoint.isInTransaction()) {
      throw new IllegalStateException(
          method
              + ": the transaction ends when the method returns, and its stage completes later;"
              + " call it outside of the transaction");
    }
    Duration wait = method.waitTime().orElse(defaultWait);
    Optional<Lease> acquired = interruptibly(method, lock, () -> lock.acquire(wait));
    if (acquired.isEmpty()) {
      return asStage(busy(invocation, method, lock, wait));
    }
    running.begin();
    return HoldRelease.releaseAfter(
        stage(invocation, acquired.get()), acquired.get(), running::end);
  }

  private boolean takeOver(DistributedLock lock) {
    running.begin();
    boolean takenOver = false;
    try {
      takenOver = releasePoint.takeOver(lock, running::end);
    } finally {
      if (!takenOver) {
        running.end();
      }
    }
    return takenOver;
  }

  private @Nullable Object busy(
      MethodInvocation invocation, LockedMethod method, DistributedLock lock, Duration waited)
      throws Throwable {
    return method.busy().answer(lock, waited, target(invocation), invocation.getArguments());
  }

  private static CompletionStage<?> stage(MethodInvocation invocation, Lease lease) {
    try {
      return asStage(proceed(invocation, lease));
    } catch (Throwable e) {
      return failedStage(e);
    }
  }

  /** The stage has the exception; the interrupt is that of this thread, which keeps its status. */
  private static CompletableFuture<?> failedStage(Throwable failure) {
    if (failure instanceof InterruptedException) {
      Thread.currentThread().interrupt();
    }
    return CompletableFuture.failedFuture(failure);
  }

  private static CompletionStage<?> asStage(@Nullable Object result) {
    return result == null ? CompletableFuture.completedFuture(null) : (CompletionStage<?>) result;
  }

  private static @Nullable Object proceed(MethodInvocation invocation, Lease lease)
      throws Throwable {
    LeaseStack.push(lease);
    try {
      return invocation.proceed();
    } finally {
      LeaseStack.pop();
    }
  }

  private static Object target(MethodInvocation invocation) {
    return Objects.requireNonNull(invocation.getThis(), "target");
  }

  private interface Wait<T> {
    T await() throws InterruptedException;
  }

  /** An interrupt is thrown where the method declares it; otherwise the status is kept. */
  private static <T> T interruptibly(LockedMethod method, DistributedLock lock, Wait<T> wait)
      throws InterruptedException {
    try {
      return wait.await();
    } catch (InterruptedException e) {
      if (method.declaresInterrupt()) {
        throw e;
      }
      Thread.currentThread().interrupt();
      throw new LockNotAcquiredException(
          lock.name(),
          "lock '%s' of %s was not acquired: the thread was interrupted while it waited"
              .formatted(lock.name(), method));
    }
  }
}
