package io.mortise.spring.boot.locked;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Releases a lock that is acquired inside a transaction when that transaction has ended, committed
 * or rolled back. Only loaded where Spring's transactions are on the class path.
 *
 * <p>A suspended transaction has its own synchronizations: a lock belongs to the transaction that
 * is active when it is acquired, and a rollback to a savepoint does not release it.
 *
 * <p><b>Threads.</b> Called by the thread that owns the lock, as Spring's own transaction managers
 * call synchronizations. One that calls them on another thread (JTA may) cannot release: the error
 * says so.
 */
final class TransactionReleasePoint implements ReleasePoint {

  @Override
  public boolean isInTransaction() {
    return TransactionSynchronizationManager.isActualTransactionActive()
        && TransactionSynchronizationManager.isSynchronizationActive();
  }

  @Override
  public boolean takeOver(DistributedLock lock, Runnable released) {
    if (!isInTransaction()) {
      return false;
    }
    TransactionSynchronizationManager.registerSynchronization(new Release(lock, released));
    return true;
  }

  /**
   * Checks the lease before the commit, and releases after everything else. No record: each call
   * has its own release, and Spring keeps only one of equal synchronizations.
   */
  private static final class Release implements TransactionSynchronization {
    private final DistributedLock lock;

    /** That of the call: a thread that knows of its loss may have another one by the commit. */
    private final Lease lease;

    private final Runnable released;

    Release(DistributedLock lock, Runnable released) {
      this.lock = lock;
      this.lease = lock.lease();
      this.released = released;
    }

    /** After all other synchronizations, so that those run under the lock too. */
    @Override
    public int getOrder() {
      return Ordered.LOWEST_PRECEDENCE;
    }

    @Override
    public void beforeCommit(boolean readOnly) {
      lease.ensureValid(); // throws: the transaction is rolled back
    }

    @Override
    public void afterCompletion(int status) {
      try {
        HoldRelease.release(lock); // Spring logs what it throws: the transaction has ended
      } finally {
        released.run();
      }
    }
  }
}
