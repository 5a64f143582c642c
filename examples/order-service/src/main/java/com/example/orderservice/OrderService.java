package com.example.orderservice;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;

/** Sells articles of a table: a lock around a transaction, and the token in the update. */
public final class OrderService {
  private static final Duration WAIT = Duration.ofSeconds(10);

  private final LockClient locks;
  private final DataSource database;

  OrderService(LockClient locks, DataSource database) {
    this.locks = locks;
    this.database = database;
  }

  /** Sells one piece; returns how many are left, or -1 if there was none. */
  int order(String article) throws InterruptedException, SQLException {
    DistributedLock lock = locks.lock("stock:" + article);
    try (Lease lease = lock.acquire(WAIT).orElseThrow();
        Connection transaction = database.getConnection()) {
      transaction.setAutoCommit(false);
      try {
        int left = sell(transaction, article, lease.fencingToken());
        transaction.commit();
        return left;
      } catch (Throwable e) {
        rollBack(transaction, e);
        throw e;
      }
    } // closed in reverse: the lock is released after the commit
  }

  /** Not left to the close of the connection, at which some databases commit. */
  private static void rollBack(Connection transaction, Throwable cause) {
    try {
      transaction.rollback();
    } catch (SQLException e) {
      cause.addSuppressed(e);
    }
  }

  private static int sell(Connection transaction, String article, long token) throws SQLException {
    claim(transaction, article, token);
    int left = amount(transaction, article) - 1;
    if (left >= 0) {
      write(transaction, article, left);
    }
    return left;
  }

  /** Raises the token of the row, before it is read; refuses a late holder. */
  static void claim(Connection transaction, String article, long token) throws SQLException {
    try (PreparedStatement update =
        transaction.prepareStatement(
            "UPDATE stock SET fence = ? WHERE article = ? AND fence <= ?")) {
      update.setLong(1, token);
      update.setString(2, article);
      update.setLong(3, token);
      if (update.executeUpdate() == 0) {
        throw new IllegalStateException("a later holder of the lock has sold " + article);
      }
    }
  }

  private static int amount(Connection transaction, String article) throws SQLException {
    try (PreparedStatement query =
        transaction.prepareStatement("SELECT amount FROM stock WHERE article = ?")) {
      query.setString(1, article);
      try (ResultSet row = query.executeQuery()) {
        row.next();
        return row.getInt(1);
      }
    }
  }

  private static void write(Connection transaction, String article, int amount)
      throws SQLException {
    try (PreparedStatement update =
        transaction.prepareStatement("UPDATE stock SET amount = ? WHERE article = ?")) {
      update.setInt(1, amount);
      update.setString(2, article);
      update.executeUpdate();
    }
  }

  /** Returns a database in memory. */
  static DataSource database() {
    JdbcDataSource database = new JdbcDataSource();
    database.setURL("jdbc:h2:mem:orders;DB_CLOSE_DELAY=-1");
    return database;
  }

  /** Puts a hundred books into stock. */
  static void createStock(DataSource database) throws SQLException {
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("DROP TABLE IF EXISTS stock");
      statement.execute(
          "CREATE TABLE stock (article VARCHAR PRIMARY KEY, amount INT, fence BIGINT)"
              + " AS SELECT 'book', 100, 0");
    }
  }

  /**
   * Eight threads order a hundred books.
   *
   * @param arguments the URI of Redis
   */
  public static void main(String... arguments) throws Exception {
    String uri = arguments.length > 0 ? arguments[0] : "redis://localhost:6379";
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try (LockClient locks = LockClient.create(uri)) {
      DataSource database = database();
      createStock(database);
      OrderService service = new OrderService(locks, database);
      for (int order = 0; order < 100; order++) {
        threads.submit(() -> service.order("book"));
      }
      threads.shutdown();
      threads.awaitTermination(1, TimeUnit.MINUTES);
      System.out.println("left after one more order: " + service.order("book"));
    }
  }
}
