package io.mortise.it.recipes;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.multilock.MultiLock;
import java.time.Duration;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionTemplate;

/** A recipe of docs/recipes.md: several locks. */
final class Transfers {
  private static final Duration WAIT = Duration.ofSeconds(10);

  private final LockClient locks;
  private final TransactionTemplate transactions;
  private final JdbcClient jdbc;

  Transfers(LockClient locks, TransactionTemplate transactions, JdbcClient jdbc) {
    this.locks = locks;
    this.transactions = transactions;
    this.jdbc = jdbc;
  }

  void create() {
    jdbc.sql("CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT, fence BIGINT)").update();
  }

  void open(int id, long balance) {
    jdbc.sql("INSERT INTO account VALUES (?, ?, 0)").params(id, balance).update();
  }

  long balance(int id) {
    return jdbc.sql("SELECT balance FROM account WHERE id = ?")
        .param(id)
        .query(Long.class)
        .single();
  }

  // snippet: transfer
  void transfer(int from, int to, long cents) throws InterruptedException {
    DistributedLock both =
        new MultiLock(locks.lock("account:" + from), locks.lock("account:" + to));
    try (Lease lease = both.acquire(WAIT).orElseThrow(() -> busy(from, to))) {
      transactions.executeWithoutResult(
          status -> {
            add(from, -cents, lease.fencingToken()); // one token for both accounts
            add(to, cents, lease.fencingToken());
          });
    }
  }

  private void add(int account, long cents, long token) {
    int changed =
        jdbc.sql("UPDATE account SET balance = balance + ?, fence = ? WHERE id = ? AND fence <= ?")
            .params(cents, token, account, token)
            .update();
    if (changed == 0) {
      throw new OptimisticLockingFailureException("a later holder has written " + account);
    }
  }

  // end

  private static CannotAcquireLockException busy(int from, int to) {
    return new CannotAcquireLockException("account " + from + " or " + to + " is in use");
  }
}
