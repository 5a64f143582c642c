package io.mortise.it.recipes;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import java.time.Duration;
import java.util.Optional;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.transaction.support.TransactionTemplate;

/** A recipe of docs/recipes.md: an idempotency table. */
final class Payments {
  private static final Duration WAIT = Duration.ofSeconds(10);

  private final LockClient locks;
  private final TransactionTemplate transactions;
  private final PaymentTable payments;

  Payments(LockClient locks, TransactionTemplate transactions, PaymentTable payments) {
    this.locks = locks;
    this.transactions = transactions;
    this.payments = payments;
  }

  // snippet: pay
  /** Pays once, however often the request arrives; returns the number of the payment. */
  long pay(String requestId, long cents) throws InterruptedException {
    DistributedLock lock = locks.lock("payment:" + requestId);
    try (Lease lease = lock.acquire(WAIT).orElseThrow(() -> busy(requestId))) {
      return transactions.execute(
          status -> {
            Optional<Long> paid = payments.findNumber(requestId);
            lease.ensureValid(); // saves work; what decides is the key of the table
            return paid.orElseGet(() -> payments.insert(requestId, cents));
          });
    }
  }

  // end

  private static CannotAcquireLockException busy(String requestId) {
    return new CannotAcquireLockException("request " + requestId + " is being paid");
  }
}
