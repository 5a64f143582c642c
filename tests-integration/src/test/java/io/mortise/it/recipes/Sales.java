package io.mortise.it.recipes;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import java.time.Duration;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.transaction.support.TransactionTemplate;

/** A recipe of docs/recipes.md: a lock around a transaction. */
final class Sales {
  private static final Duration WAIT = Duration.ofSeconds(10);

  private final LockClient locks;
  private final TransactionTemplate transactions;
  private final Stock stock;

  Sales(LockClient locks, TransactionTemplate transactions, Stock stock) {
    this.locks = locks;
    this.transactions = transactions;
    this.stock = stock;
  }

  // snippet: sell
  /** Sells one piece; returns how many are left, or -1 if there was none. */
  int sell(String article) throws InterruptedException {
    DistributedLock lock = locks.lock("stock:" + article);
    try (Lease lease = lock.acquire(WAIT).orElseThrow(() -> busy(article))) {
      return transactions.execute(
          status -> {
            stock.claim(article, lease.fencingToken()); // before it reads
            int left = stock.amount(article) - 1;
            if (left >= 0) {
              stock.write(article, left);
            }
            return left;
          });
    } // the lock is released here, after the commit
  }

  // end

  private static CannotAcquireLockException busy(String article) {
    return new CannotAcquireLockException("others are selling " + article);
  }
}
