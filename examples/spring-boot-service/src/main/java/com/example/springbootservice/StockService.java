package com.example.springbootservice;

import io.mortise.spring.boot.CurrentLease;
import io.mortise.spring.boot.Locked;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Sells the articles in the table {@code stock}: the lock is released after the commit. */
@Service
class StockService {
  private final JdbcClient jdbc;

  StockService(JdbcClient jdbc) {
    this.jdbc = jdbc;
  }

  // snippet: sell
  /** Sells one piece; returns how many are left, or -1 if there was none. */
  @Locked(name = "stock:#{#article}", waitTime = "5s")
  @Transactional
  public int sell(String article) {
    claim(article, CurrentLease.get().fencingToken()); // before it reads
    int left = amount(article) - 1;
    if (left >= 0) {
      jdbc.sql("UPDATE stock SET amount = ? WHERE article = ?").params(left, article).update();
    }
    return left;
  }

  // end

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
}
