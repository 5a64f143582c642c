package io.mortise.it.recipes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.TestThreads;
import io.mortise.it.support.TwoClients;
import java.time.Duration;
import java.util.List;
import org.h2.mvstore.tx.Transaction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.transaction.support.TransactionTemplate;

/** A lock around a transaction keeps each sale; a lock inside one loses sales. */
@Timeout(60)
class SalesTest {
  private static final String SHOE = "shoe";

  @RegisterExtension static final TwoClients PROCESSES = new TwoClients();

  @RegisterExtension final TestDatabase database = new TestDatabase();
  private final Stock stock = new Stock(database.jdbc());

  @BeforeEach
  void tenShoes() {
    stock.create();
    stock.add(SHOE, 10);
  }

  @Test
  void theNextSaleReadsWhatTheLastOneHasCommitted() throws Exception {
    Step atCommit = new Step();
    Step mayCommit = new Step();
    TransactionTemplate stopped = database.transactionsWith(atCommit.before(mayCommit), () -> {});
    Sales here = new Sales(PROCESSES.here(), stopped, stock);
    Sales there = new Sales(PROCESSES.there(), database.transactions(), stock);

    AsyncCall<Integer> first = AsyncCall.start(() -> here.sell(SHOE));
    atCommit.await();
    AsyncCall<Integer> second = AsyncCall.start(() -> there.sell(SHOE)).awaitParked();
    mayCommit.done();

    assertEquals(9, first.get());
    assertEquals(8, second.get());
    assertEquals(8, stock.amount(SHOE));
  }

  @Test
  void whatIsNotThereIsNotSold() throws Exception {
    stock.add("last", 1);
    Sales sales = new Sales(PROCESSES.here(), database.transactions(), stock);

    assertEquals(0, sales.sell("last"));
    assertEquals(-1, sales.sell("last"));

    assertEquals(0, stock.amount("last"));
  }

  @Test
  void withTheLockInsideTheNextSaleReadsTheOldAmount() throws Exception {
    Step atCommit = new Step();
    Step hasRead = new Step();
    TransactionTemplate stopped = database.transactionsWith(atCommit.before(hasRead), () -> {});
    Stock observed =
        new Stock(database.jdbc()) {
          @Override
          int amount(String article) {
            int amount = super.amount(article);
            hasRead.done();
            return amount;
          }
        };
    SalesLockedInside here = new SalesLockedInside(PROCESSES.here(), stopped, stock);
    SalesLockedInside there =
        new SalesLockedInside(PROCESSES.there(), database.transactions(), observed);

    AsyncCall<Integer> first = AsyncCall.start(() -> here.sell(SHOE));
    atCommit.await();
    AsyncCall<Integer> second = AsyncCall.start(() -> there.sell(SHOE));

    assertEquals(9, first.get());
    assertEquals(9, second.get(), "the second sale has overwritten the first");
    assertEquals(9, stock.amount(SHOE), "two shoes are sold");
  }

  @Test
  void twoHundredSalesLowerTheStockByTwoHundred() throws Exception {
    stock.add("sock", 200);
    try (TestThreads threads = new TestThreads()) {
      for (LockClient client : List.of(PROCESSES.here(), PROCESSES.there())) {
        Sales sales = new Sales(client, database.transactions(), stock);
        for (int thread = 0; thread < 4; thread++) {
          threads.start(
              () -> {
                for (int sale = 0; sale < 25; sale++) {
                  sales.sell("sock");
                }
              });
        }
      }
      threads.join(Duration.ofSeconds(40));
    }
    assertEquals(0, stock.amount("sock"));
  }

  @Test
  void aLateHolderSellsNothingAfterTheNextOne() throws Exception {
    Sales late = new Sales(PROCESSES.here(), database.transactionsWith(this::sellByForce), stock);

    OptimisticLockingFailureException refused =
        assertThrows(OptimisticLockingFailureException.class, () -> late.sell(SHOE));

    assertEquals(LeaseLostException.class, refused.getSuppressed()[0].getClass());
    assertEquals(9, stock.amount(SHOE), "the next holder's sale, and no other");
  }

  /** Takes the lock from its holder and sells one, on another thread and connection. */
  private void sellByForce() {
    PROCESSES.there().lock("stock:" + SHOE).forceUnlock();
    Sales next = new Sales(PROCESSES.there(), database.transactions(), stock);
    try {
      assertEquals(9, AsyncCall.start(() -> next.sell(SHOE)).get());
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aLateHolderSellsNothingBetweenReadAndWriteOfTheNextOne() throws Exception {
    Step isLate = new Step();
    Step nextHasRead = new Step();
    Sales late =
        new Sales(PROCESSES.here(), database.transactionsWith(isLate.before(nextHasRead)), stock);
    AsyncCall<Integer> lateSale = AsyncCall.start(() -> late.sell(SHOE));
    isLate.await();
    PROCESSES.there().lock("stock:" + SHOE).forceUnlock();
    Stock observed =
        new Stock(database.jdbc()) {
          @Override
          int amount(String article) {
            int amount = super.amount(article);
            nextHasRead.done();
            Eventually.until(
                "the late sale is over, or waits for the row",
                () -> lateSale.isDone() || lateSale.isIn(Transaction.class, "waitFor"));
            return amount;
          }
        };
    Sales next = new Sales(PROCESSES.there(), database.transactions(), observed);

    assertEquals(9, next.sell(SHOE));

    assertThrows(OptimisticLockingFailureException.class, lateSale::get);
    assertEquals(9, stock.amount(SHOE));
  }
}
