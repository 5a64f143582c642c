package io.mortise.it.recipes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.TwoClients;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.transaction.support.TransactionTemplate;

/** A request that arrives several times is paid once, also when a lock is lost. */
@Timeout(60)
class PaymentsTest {
  private static final long CENTS = 1_000;

  @RegisterExtension static final TwoClients PROCESSES = new TwoClients();

  @RegisterExtension final TestDatabase database = new TestDatabase();
  private final PaymentTable table = new PaymentTable(database.jdbc());
  private final Payments there = new Payments(PROCESSES.there(), database.transactions(), table);

  @BeforeEach
  void create() {
    table.create();
  }

  @Test
  void aRepetitionGetsTheNumberOfTheFirst() throws Exception {
    Payments here = new Payments(PROCESSES.here(), database.transactions(), table);

    long number = here.pay("a", CENTS);

    assertEquals(number, here.pay("a", CENTS));
    assertEquals(number, there.pay("a", CENTS));
    assertEquals(CENTS, table.sum());
  }

  @Test
  void aRepetitionWaitsForTheFirst() throws Exception {
    Step atCommit = new Step();
    Step mayCommit = new Step();
    TransactionTemplate stopped = database.transactionsWith(atCommit.before(mayCommit), () -> {});
    Payments here = new Payments(PROCESSES.here(), stopped, table);

    AsyncCall<Long> first = AsyncCall.start(() -> here.pay("b", CENTS));
    atCommit.await();
    AsyncCall<Long> second = AsyncCall.start(() -> there.pay("b", CENTS)).awaitParked();
    mayCommit.done();

    assertEquals(first.get(), second.get());
    assertEquals(CENTS, table.sum());
  }

  @Test
  void whenTheLockIsLostTheKeyRefusesTheSecondPayment() throws Exception {
    PaymentTable interrupted =
        new PaymentTable(database.jdbc()) {
          private boolean isPaidMeanwhile;

          @Override
          Optional<Long> findNumber(String requestId) {
            Optional<Long> number = super.findNumber(requestId);
            if (!isPaidMeanwhile) {
              isPaidMeanwhile = true;
              payByForce(requestId);
            }
            return number;
          }
        };
    Payments late = new Payments(PROCESSES.here(), database.transactions(), interrupted);

    assertThrows(DuplicateKeyException.class, () -> late.pay("c", CENTS));

    assertEquals(CENTS, table.sum());
    assertEquals(table.findNumber("c").orElseThrow(), late.pay("c", CENTS), "a repetition");
  }

  /** Takes the lock from its holder and pays, on another thread and connection. */
  private void payByForce(String requestId) {
    PROCESSES.there().lock("payment:" + requestId).forceUnlock();
    try {
      AsyncCall.start(() -> there.pay(requestId, CENTS)).get();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
