package io.mortise.it.recipes;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import org.springframework.transaction.support.TransactionTemplate;

/** The lock inside the transaction, of which docs/recipes.md warns. */
final class SalesLockedInside {
  private final LockClient locks;
  private final TransactionTemplate transactions;
  private final Stock stock;

  SalesLockedInside(LockClient locks, TransactionTemplate transactions, Stock stock) {
    this.locks = locks;
    this.transactions = transactions;
    this.stock = stock;
  }

  // snippet: wrong
  /** Wrong. Loses sales; a lock in a method with {@code @Transactional} is the same. */
  int sell(String article) {
    return transactions.execute(
        status -> {
          DistributedLock lock = locks.lock("stock:" + article);
          lock.lock();
          try {
            int left = stock.amount(article) - 1;
            stock.write(article, left);
            return left;
          } finally {
            lock.unlock(); // before the commit: the next holder reads the old amount
          }
        });
  }
  // end
}
