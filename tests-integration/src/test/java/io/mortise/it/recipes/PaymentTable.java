package io.mortise.it.recipes;

import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The table {@code payment}, whose key is the id of the request. */
class PaymentTable {
  private final JdbcClient jdbc;

  PaymentTable(JdbcClient jdbc) {
    this.jdbc = jdbc;
  }

  void create() {
    jdbc.sql(
            "CREATE TABLE payment (request_id VARCHAR(40) PRIMARY KEY, cents BIGINT,"
                + " number BIGINT GENERATED ALWAYS AS IDENTITY)")
        .update();
  }

  Optional<Long> findNumber(String requestId) {
    return jdbc.sql("SELECT number FROM payment WHERE request_id = ?")
        .param(requestId)
        .query(Long.class)
        .optional();
  }

  long insert(String requestId, long cents) {
    jdbc.sql("INSERT INTO payment (request_id, cents) VALUES (?, ?)")
        .params(requestId, cents)
        .update();
    return findNumber(requestId).orElseThrow();
  }

  long sum() {
    return jdbc.sql("SELECT COALESCE(SUM(cents), 0) FROM payment").query(Long.class).single();
  }
}
