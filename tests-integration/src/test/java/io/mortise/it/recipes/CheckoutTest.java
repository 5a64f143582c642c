package io.mortise.it.recipes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.it.recipes.Checkout.Receipt;
import io.mortise.it.support.LoggedWarnings;
import io.mortise.it.support.Names;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A release that fails after the commit leaves the commit alone. */
@Timeout(60)
class CheckoutTest {
  private static final LockOptions IMPATIENT =
      LockOptions.builder().commandTimeout(Duration.ofSeconds(2)).build();

  @RegisterExtension final TestDatabase database = new TestDatabase();
  private final Stock stock = new Stock(database.jdbc());
  private final String article = Names.fresh();

  @BeforeEach
  void tenPieces() {
    LoggedWarnings.note();
    stock.create();
    stock.add(article, 10);
  }

  @Test
  void aLossAfterTheCommitIsLoggedAndTheSaleStands() throws Exception {
    try (RedisServer server = RedisServer.start();
        LockClient locks = LockClient.create(server.uri());
        LockClient other = LockClient.create(server.uri())) {
      Runnable force = () -> other.lock("stock:" + article).forceUnlock();

      assertSoldOnceWithAWarning(locks, force);
    }
  }

  @Test
  void aReleaseThatRedisDoesNotConfirmIsLoggedAndTheSaleStands() throws Exception {
    try (RedisServer server = RedisServer.start();
        LockClient locks = LockClient.create(server.uri(), IMPATIENT)) {
      try {
        assertSoldOnceWithAWarning(locks, server::pause);
      } finally {
        server.resume();
      }
    }
  }

  private void assertSoldOnceWithAWarning(LockClient locks, Runnable afterCommit)
      throws InterruptedException {
    Checkout checkout =
        new Checkout(locks, database.transactionsWith(() -> {}, afterCommit), stock);

    assertEquals(new Receipt(article, 9), checkout.buy(article));

    assertEquals(9, stock.amount(article));
    assertEquals(
        1,
        LoggedWarnings.about(article).stream()
            .filter(line -> line.contains("is committed; its lock was lost"))
            .count());
  }

  @Test
  void aFaultBeforeTheCommitIsThrown() {
    try (RedisServer server = RedisServer.start()) {
      LockClient closed = LockClient.create(server.uri());
      closed.close();
      Checkout checkout = new Checkout(closed, database.transactions(), stock);

      assertThrows(LockException.class, () -> checkout.buy(article));

      assertEquals(10, stock.amount(article));
    }
  }
}
