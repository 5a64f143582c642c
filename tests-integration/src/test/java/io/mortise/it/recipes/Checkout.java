package io.mortise.it.recipes;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.transaction.support.TransactionTemplate;

/** A recipe of docs/recipes.md: a release that fails after the commit. */
final class Checkout {
  private static final Logger LOG = LoggerFactory.getLogger(Checkout.class);
  private static final Duration WAIT = Duration.ofSeconds(10);

  private final LockClient locks;
  private final TransactionTemplate transactions;
  private final Stock stock;

  Checkout(LockClient locks, TransactionTemplate transactions, Stock stock) {
    this.locks = locks;
    this.transactions = transactions;
    this.stock = stock;
  }

  /** The proof of a purchase. */
  record Receipt(String article, int left) {}

  // snippet: buy
  Receipt buy(String article) throws InterruptedException {
    Receipt receipt = null;
    try (Lease lease = lock(article)) {
      receipt = transactions.execute(status -> take(article, lease.fencingToken()));
    } catch (LeaseLostException | LockException e) {
      if (receipt == null) {
        throw e; // nothing was committed
      }
      LOG.warn("{} is committed; its lock was lost, or its release not confirmed", receipt, e);
    }
    return receipt;
  }

  // end

  private Lease lock(String article) throws InterruptedException {
    return locks
        .lock("stock:" + article)
        .acquire(WAIT)
        .orElseThrow(() -> new CannotAcquireLockException("others are buying " + article));
  }

  private Receipt take(String article, long token) {
    stock.claim(article, token);
    int left = stock.amount(article) - 1;
    stock.write(article, left);
    return new Receipt(article, left);
  }
}
