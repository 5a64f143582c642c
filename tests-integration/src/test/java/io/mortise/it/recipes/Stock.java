package io.mortise.it.recipes;

import org.springframework.jdbc.core.simple.JdbcClient;

/** The table {@code stock}: what is left of each article, and the token of its last writer. */
class Stock {
  private final JdbcClient jdbc;

  Stock(JdbcClient jdbc) {
    this.jdbc = jdbc;
  }

  void create() {
    jdbc.sql("CREATE TABLE stock (article VARCHAR(40) PRIMARY KEY, amount INT, fence BIGINT)")
        .update();
  }

  void add(String article, int amount) {
    jdbc.sql("INSERT INTO stock VALUES (?, ?, 0)").params(article, amount).update();
  }

  int amount(String article) {
    return jdbc.sql("SELECT amount FROM stock WHERE article = ?")
        .param(article)
        .query(Integer.class)
        .single();
  }

  // snippet: write
  /** Returns whether the row was written: not if a later holder of the lock has written it. */
  boolean write(String article, int amount, long token) {
    return jdbc.sql("UPDATE stock SET amount = ?, fence = ? WHERE article = ? AND fence <= ?")
            .params(amount, token, article, token)
            .update()
        == 1;
  }
  // end
}
