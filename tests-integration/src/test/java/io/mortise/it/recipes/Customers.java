package io.mortise.it.recipes;

import io.mortise.core.LockClient;
import java.util.function.UnaryOperator;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A recipe of docs/recipes.md: compare-and-set on the version of a row. */
class Customers {
  private final LockClient locks;
  private final JdbcClient jdbc;

  Customers(LockClient locks, JdbcClient jdbc) {
    this.locks = locks;
    this.jdbc = jdbc;
  }

  /** A row, as it was read. */
  record Customer(int id, String name, long version) {}

  void create() {
    jdbc.sql("CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(400), version BIGINT)")
        .update();
  }

  void add(int id, String name) {
    jdbc.sql("INSERT INTO customer VALUES (?, ?, 1)").params(id, name).update();
  }

  Customer find(int id) {
    return jdbc.sql("SELECT id, name, version FROM customer WHERE id = ?")
        .param(id)
        .query(Customer.class)
        .single();
  }

  // snippet: save
  /** Saves what a user has edited, perhaps for minutes, without a lock. */
  void save(Customer edited) {
    int changed =
        jdbc.sql("UPDATE customer SET name = ?, version = version + 1 WHERE id = ? AND version = ?")
            .params(edited.name(), edited.id(), edited.version())
            .update();
    if (changed == 0) {
      throw new OptimisticLockingFailureException(edited + " has been changed by another");
    }
  }

  /** Changes it by program: the lock keeps programs from failing because of each other. */
  void rename(int id, UnaryOperator<String> change) {
    locks
        .lock("customer:" + id)
        .withLock(
            () -> {
              Customer read = find(id);
              save(new Customer(id, change.apply(read.name()), read.version()));
            });
  }
  // end
}
