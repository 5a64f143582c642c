package io.mortise.it.recipes;

import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

/** A database in memory for one test, and transactions on it that the test can stop halfway. */
final class TestDatabase implements AfterEachCallback {
  private final DataSource dataSource = dataSource();

  private static DataSource dataSource() {
    JdbcDataSource h2 = new JdbcDataSource();
    h2.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000");
    return h2;
  }

  JdbcClient jdbc() {
    return JdbcClient.create(dataSource);
  }

  TransactionTemplate transactions() {
    return new TransactionTemplate(new JdbcTransactionManager(dataSource));
  }

  /** Returns transactions that run this when they begin. */
  TransactionTemplate transactionsWith(Runnable begin) {
    return hooked(begin, () -> {}, () -> {});
  }

  /** Returns transactions that run these right before and right after they commit. */
  TransactionTemplate transactionsWith(Runnable beforeCommit, Runnable afterCommit) {
    return hooked(() -> {}, beforeCommit, afterCommit);
  }

  private TransactionTemplate hooked(Runnable begin, Runnable beforeCommit, Runnable afterCommit) {
    return new TransactionTemplate(new Hooked(dataSource, begin, beforeCommit, afterCommit));
  }

  @Override
  public void afterEach(ExtensionContext context) {
    jdbc().sql("SHUTDOWN").update();
  }

  private static final class Hooked extends JdbcTransactionManager {
    private static final long serialVersionUID = 1L;

    private final transient Runnable begin;
    private final transient Runnable beforeCommit;
    private final transient Runnable afterCommit;

    Hooked(DataSource dataSource, Runnable begin, Runnable beforeCommit, Runnable afterCommit) {
      super(dataSource);
      this.begin = begin;
      this.beforeCommit = beforeCommit;
      this.afterCommit = afterCommit;
    }

    @Override
    protected void doBegin(Object transaction, TransactionDefinition definition) {
      begin.run();
      super.doBegin(transaction, definition);
    }

    @Override
    protected void doCommit(DefaultTransactionStatus status) {
      beforeCommit.run();
      super.doCommit(status);
      afterCommit.run();
    }
  }
}
