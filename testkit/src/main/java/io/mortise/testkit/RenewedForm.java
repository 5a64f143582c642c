package io.mortise.testkit;

import static io.mortise.testkit.ContractTimings.SLACK;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A form of acquisition that names no lease: its hold has the default one, and is renewed.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
@FunctionalInterface
interface RenewedForm {
  /** First those whose hold belongs to the thread, then those whose hold is a handle. */
  List<RenewedForm> ALL =
      List.of(
          lock -> {
            lock.lock();
            return lock.lease();
          },
          lock -> {
            lock.lockInterruptibly();
            return lock.lease();
          },
          lock -> {
            assertTrue(lock.tryLock());
            return lock.lease();
          },
          lock -> {
            assertTrue(lock.tryLock(SLACK));
            return lock.lease();
          },
          lock -> {
            assertTrue(lock.tryLock(SLACK.toMillis(), TimeUnit.MILLISECONDS));
            return lock.lease();
          },
          DistributedLock::acquire,
          lock -> lock.acquire(SLACK).orElseThrow(),
          lock -> lock.tryAcquire().orElseThrow(),
          lock -> TestThread.result(lock.acquireAsync().toCompletableFuture()),
          lock -> TestThread.result(lock.acquireAsync(SLACK).toCompletableFuture()).orElseThrow());

  /** Acquires a lock that is free. */
  Lease acquire(DistributedLock lock) throws Exception;
}
