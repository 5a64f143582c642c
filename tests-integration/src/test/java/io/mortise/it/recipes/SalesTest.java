package io.mortise.it.recipes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.TestThreads;
import io.mortise.it.support.TwoClients;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.dao.OptimisticLockingFailureException;

/** A lock around a transaction, and what becomes of one inside. */
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
    Runnable beforeCommit =
        () -> {
          atCommit.done();
          mayCommit.await();
        };
    Sales here =
        new Sales(PROCESSES.here(), database.transactionsWith(beforeCommit, () -> {}), stock);
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
  void withTheLockInsideTheNextSaleReadsTheOldAmount() throws Exception {
    Step atCommit = new Step();
    Step hasRead = new Step();
    Runnable beforeCommit =
        () -> {
          atCommit.done();
          hasRead.await();
        };
    Stock observed =
        new Stock(database.jdbc()) {
          @Override
          int amount(String article) {
            int amount = super.amount(article);
            hasRead.done();
            return amount;
          }
        };
    SalesLockedInside here =
        new SalesLockedInside(
            PROCESSES.here(), database.transactionsWith(beforeCommit, () -> {}), stock);
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
  void aLateHolderSellsNothing() throws Exception {
    Stock interrupted =
        new Stock(database.jdbc()) {
          @Override
          int amount(String article) {
            int amount = super.amount(article);
            sellByForce(article);
            return amount;
          }
        };
    Sales late = new Sales(PROCESSES.here(), database.transactions(), interrupted);

    OptimisticLockingFailureException refused =
        assertThrows(OptimisticLockingFailureException.class, () -> late.sell(SHOE));

    assertEquals(LeaseLostException.class, refused.getSuppressed()[0].getClass());
    assertEquals(9, stock.amount(SHOE), "the next holder's sale, and no other");
  }

  /** Takes the lock from its holder and sells one, on another connection. */
  private void sellByForce(String article) {
    var lock = PROCESSES.there().lock("stock:" + article);
    lock.forceUnlock();
    try (Lease next = lock.tryAcquire().orElseThrow()) {
      AsyncCall.start(() -> stock.write(article, stock.amount(article) - 1, next.fencingToken()))
          .get();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
