package io.mortise.it.recipes;

import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The table {@code stock}: what is left of each article, and the token of the last holder. */
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

  // snippet: claim
  /** Raises the token of the row; fails if a later holder of the lock has been here. */
  void claim(String article, long token) {
    int changed =
        jdbc.sql("UPDATE stock SET fence = ? WHERE article = ? AND fence <= ?")
            .params(token, article, token)
            .update();
    if (changed == 0) {
      throw new OptimisticLockingFailureException("a later holder has sold " + article);
    }
  }

  // end

  void write(String article, int amount) {
    jdbc.sql("UPDATE stock SET amount = ? WHERE article = ?").params(amount, article).update();
  }
}
