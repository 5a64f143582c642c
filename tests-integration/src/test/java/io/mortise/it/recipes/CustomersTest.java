package io.mortise.it.recipes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.LockClient;
import io.mortise.it.recipes.Customers.Customer;
import io.mortise.it.support.TestThreads;
import io.mortise.it.support.TwoClients;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.dao.OptimisticLockingFailureException;

/** The version of a row keeps an update from being lost, with a lock and without. */
@Timeout(60)
class CustomersTest {
  @RegisterExtension static final TwoClients PROCESSES = new TwoClients();

  @RegisterExtension final TestDatabase database = new TestDatabase();
  private final Customers customers = new Customers(PROCESSES.here(), database.jdbc());

  @BeforeEach
  void create() {
    customers.create();
    customers.add(7, "Ada");
  }

  @Test
  void ofTwoEditsTheSecondIsRefused() {
    Customer here = customers.find(7);
    Customer there = customers.find(7);

    customers.save(new Customer(7, "Ada L.", here.version()));

    assertThrows(
        OptimisticLockingFailureException.class,
        () -> customers.save(new Customer(7, "Ada K.", there.version())));
    assertEquals(new Customer(7, "Ada L.", 2), customers.find(7));
  }

  @Test
  void programsDoNotFailBecauseOfEachOther() throws Exception {
    try (TestThreads threads = new TestThreads()) {
      for (LockClient client : List.of(PROCESSES.here(), PROCESSES.there())) {
        Customers own = new Customers(client, database.jdbc());
        for (int thread = 0; thread < 4; thread++) {
          threads.start(
              () -> {
                for (int change = 0; change < 10; change++) {
                  own.rename(7, name -> name + "!");
                }
              });
        }
      }
      threads.join(Duration.ofSeconds(40));
    }
    assertEquals(new Customer(7, "Ada" + "!".repeat(80), 81), customers.find(7));
  }

  @Test
  void aProgramDoesNotOverwriteWhatAUserSavedWithoutTheLock() {
    assertThrows(
        OptimisticLockingFailureException.class,
        () ->
            customers.rename(
                7,
                name -> {
                  customers.save(new Customer(7, "Ada L.", 1));
                  return name + "!";
                }));
    assertEquals(new Customer(7, "Ada L.", 2), customers.find(7));
  }
}
