package com.example.springbootservice;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import java.time.Duration;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.support.TransactionTemplate;

/** Sells what is in the table {@code stock}: the transaction is inside the lock. */
@Service
class StockService {
  private static final Duration WAIT = Duration.ofSeconds(10);

  private final LockClient locks;
  private final TransactionTemplate transactions;
  private final JdbcClient jdbc;

  StockService(LockClient locks, TransactionTemplate transactions, JdbcClient jdbc) {
    this.locks = locks;
    this.transactions = transactions;
    this.jdbc = jdbc;
  }

  /** Sells one piece; returns how many are left. */
  int sell(String article) throws InterruptedException {
    DistributedLock lock = locks.lock("stock:" + article);
    try (Lease lease = lock.acquire(WAIT).orElseThrow(() -> busy(article))) {
      return transactions.execute(
          status -> {
            claim(article, lease.fencingToken());
            int left = amount(article) - 1;
            jdbc.sql("UPDATE stock SET amount = ? WHERE article = ?")
                .params(left, article)
                .update();
            return left;
          });
    } // the lock is released here, after the commit
  }

  int amount(String article) {
    return jdbc.sql("SELECT amount FROM stock WHERE article = ?")
        .param(article)
        .query(Integer.class)
        .single();
  }

  /** Raises the token of the row, before it is read; refuses a late holder. */
  void claim(String article, long token) {
    int changed =
        jdbc.sql("UPDATE stock SET fence = ? WHERE article = ? AND fence <= ?")
            .params(token, article, token)
            .update();
    if (changed == 0) {
      throw new OptimisticLockingFailureException("a later holder has sold " + article);
    }
  }

  private static CannotAcquireLockException busy(String article) {
    return new CannotAcquireLockException("others are selling " + article);
  }
}
