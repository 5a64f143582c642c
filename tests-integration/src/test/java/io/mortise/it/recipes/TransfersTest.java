package io.mortise.it.recipes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

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

/** Two accounts are locked together. */
@Timeout(60)
class TransfersTest {
  @RegisterExtension static final TwoClients PROCESSES = new TwoClients();

  @RegisterExtension final TestDatabase database = new TestDatabase();
  private final Transfers there = transfers(PROCESSES.there());

  @BeforeEach
  void open() {
    there.create();
    there.open(7, 1_000);
    there.open(8, 1_000);
  }

  private Transfers transfers(LockClient client) {
    return new Transfers(client, database.transactions(), database.jdbc());
  }

  @Test
  void transfersFromBothSidesEnd() throws Exception {
    try (TestThreads threads = new TestThreads()) {
      for (LockClient client : List.of(PROCESSES.here(), PROCESSES.there())) {
        Transfers own = transfers(client);
        threads.start(() -> transfer(own, 7, 8, 3));
        threads.start(() -> transfer(own, 8, 7, 2));
      }
      threads.join(Duration.ofSeconds(40));
    }
    assertEquals(1_000 - 2 * 20 * 3 + 2 * 20 * 2, there.balance(7));
    assertEquals(1_000 + 2 * 20 * 3 - 2 * 20 * 2, there.balance(8));
  }

  private static void transfer(Transfers transfers, int from, int to, long cents)
      throws InterruptedException {
    for (int transfer = 0; transfer < 20; transfer++) {
      transfers.transfer(from, to, cents);
    }
  }

  @Test
  void aLateHolderChangesNeitherAccount() {
    Transfers late =
        new Transfers(
            PROCESSES.here(), database.transactionsWith(this::transferByForce), database.jdbc());

    assertThrows(OptimisticLockingFailureException.class, () -> late.transfer(7, 8, 500));

    assertEquals(990, there.balance(7));
    assertEquals(1_010, there.balance(8));
  }

  /** Takes the locks from their holder and transfers 10, on another thread and connection. */
  private void transferByForce() {
    PROCESSES.there().lock("account:7").forceUnlock();
    PROCESSES.there().lock("account:8").forceUnlock();
    try {
      AsyncCall.run(() -> there.transfer(7, 8, 10)).get();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
