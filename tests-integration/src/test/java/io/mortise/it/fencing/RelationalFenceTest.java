package io.mortise.it.fencing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The recipe of docs/fencing.md for a relational database, on an embedded one. */
@Timeout(60)
class RelationalFenceTest {
  private static final String URL = "jdbc:h2:mem:fence;DB_CLOSE_DELAY=-1";

  /** The statement of docs/fencing.md. */
  private static final String UPDATE =
      "UPDATE account SET balance = ?, fence = ? WHERE id = ? AND fence <= ?";

  private Connection database;

  @BeforeEach
  void create() throws SQLException {
    database = DriverManager.getConnection(URL);
    try (Statement statement = database.createStatement()) {
      statement.execute(
          "CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT, fence BIGINT NOT NULL)");
      statement.execute("INSERT INTO account VALUES (7, 100, 0)");
    }
  }

  @AfterEach
  void drop() throws SQLException {
    try (Statement statement = database.createStatement()) {
      statement.execute("DROP TABLE account");
    }
    database.close();
  }

  /** Returns whether the row was updated: not if a later holder has written it. */
  private static boolean write(Connection database, long balance, long token) throws SQLException {
    try (PreparedStatement update = database.prepareStatement(UPDATE)) {
      update.setLong(1, balance);
      update.setLong(2, token);
      update.setInt(3, 7);
      update.setLong(4, token);
      return update.executeUpdate() == 1;
    }
  }

  private long balance() throws SQLException {
    try (Statement statement = database.createStatement();
        ResultSet row = statement.executeQuery("SELECT balance FROM account WHERE id = 7")) {
      assertTrue(row.next());
      return row.getLong(1);
    }
  }

  @Test
  void theTestedStatementIsThatOfTheDocument() throws Exception {
    String recipe = Files.readString(Path.of("..", "docs", "fencing.md"));
    assertTrue(recipe.contains(UPDATE), UPDATE);
  }

  @Test
  void aLateWriterWritesNothing() throws Exception {
    try (RedisServer server = RedisServer.start();
        LockClient client = LockClient.create(server.uri())) {
      DistributedLock lock = new RedisLock(client, "account:7");
      Lease late = lock.withLease(Duration.ofMinutes(1)).tryAcquire().orElseThrow();
      assertTrue(lock.forceUnlock());
      try (Lease next = lock.tryAcquire().orElseThrow()) {
        assertTrue(write(database, 50, next.fencingToken()));
        assertTrue(write(database, 60, next.fencingToken()), "once more");
        assertFalse(write(database, 1_000, late.fencingToken()));
        assertEquals(60, balance());
      }
    }
  }

  @Test
  void ofConcurrentWritesTheLargestTokenWins() throws Exception {
    try (TestThreads threads = new TestThreads()) {
      for (int writer = 0; writer < 4; writer++) {
        int first = writer;
        threads.start(
            () -> {
              try (Connection own = DriverManager.getConnection(URL)) {
                for (long token = first + 1L; token <= 2_000; token += 4) {
                  write(own, token, token);
                }
              }
            });
      }
      threads.join(Duration.ofSeconds(30));
    }
    assertEquals(2_000, balance());
  }
}
