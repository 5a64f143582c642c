package io.mortise.it.recipes;

import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Names;
import io.mortise.it.support.TwoClients;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A process ends, and no lock stays behind. */
@Timeout(60)
class WorkerNodeTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofMillis(50);

  /** In which a thread that was interrupted ends, on a busy machine too. */
  private static final Duration TIME_TO_END = Duration.ofSeconds(2);

  @RegisterExtension final TwoClients processes = new TwoClients();

  private final String name = Names.fresh();

  @Test
  void workThatHasBegunMayEnd() throws Exception {
    LockClient locks = processes.client();
    WorkerNode node = new WorkerNode(locks, LONG);
    Step isWorking = new Step();
    Step mayEnd = new Step();
    CompletableFuture<Boolean> wasHeld = new CompletableFuture<>();
    node.submit(
        () ->
            locks
                .lock(name)
                .withLock(
                    () -> {
                      isWorking.done();
                      mayEnd.await();
                      wasHeld.complete(locks.lock(name).isHeldByCurrentThread());
                    }));
    isWorking.await();

    AsyncCall<Void> closing = AsyncCall.run(node::close);
    closing.awaitIn(java.util.concurrent.ThreadPoolExecutor.class);
    mayEnd.done();
    closing.get();

    assertTrue(wasHeld.get(20, TimeUnit.SECONDS));
    assertTrue(locks.isClosed());
    assertTrue(processes.there().lock(name).tryLock());
  }

  @Test
  void aWaitEnds() throws Exception {
    LockClient locks = processes.client();
    WorkerNode node = new WorkerNode(locks, TIME_TO_END);
    DistributedLock held = processes.there().lock(name);
    held.lock();
    CompletableFuture<Throwable> thrown = new CompletableFuture<>();
    node.submit(
        () -> {
          try {
            locks.lock(name).lockInterruptibly();
          } catch (InterruptedException e) {
            thrown.complete(e);
          }
        });
    until("the thread waits", () -> locks.status().waiters() == 1);

    node.close();

    assertEquals(InterruptedException.class, thrown.get(20, TimeUnit.SECONDS).getClass());
    held.unlock();
    assertFalse(held.isLocked());
  }

  @Test
  void workThatDoesNotEndLosesItsLock() throws Exception {
    LockClient locks = processes.client();
    WorkerNode node = new WorkerNode(locks, SHORT);
    Step isWorking = new Step();
    CompletableFuture<Void> mayEnd = new CompletableFuture<>();
    CompletableFuture<LeaseLoss> loss = new CompletableFuture<>();
    node.submit(
        () -> {
          DistributedLock lock = locks.lock(name);
          lock.lock();
          isWorking.done();
          mayEnd.join(); // which an interrupt does not end
          loss.complete(assertThrows(LeaseLostException.class, lock::unlock).loss());
        });
    isWorking.await();

    node.close();

    assertTrue(processes.there().lock(name).tryLock());
    mayEnd.complete(null);
    assertEquals(LeaseLoss.Reason.CLIENT_CLOSED, loss.get(20, TimeUnit.SECONDS).reason());
  }
}
