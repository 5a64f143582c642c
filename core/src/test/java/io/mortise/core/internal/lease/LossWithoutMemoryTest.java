package io.mortise.core.internal.lease;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LeaseTerms;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A loss for whose listeners there is neither a thread nor the memory to try again later: they are
 * notified when there is.
 */
@Timeout(60)
class LossWithoutMemoryTest {
  private final RespServer server = new RespServer(command -> RespServer.integers(List.of(1L)));
  private final RedisLockClient client = TestClients.of(server, LockOptions.defaults());
  private final AtomicInteger refused = new AtomicInteger();
  private volatile boolean memory;
  private final WorkerPool workers = new WorkerPool("test", this::thread);
  private final LeaseContext context = context(client.context().lease());
  private final List<Object> notified = new CopyOnWriteArrayList<>();

  private final RedisLease lease = lease(null);

  private RedisLease lease(@Nullable Thread owner) {
    return RedisLease.granted(
        context,
        new FakeProtocol("orders"),
        "holder",
        new AcquireResult.Acquired(42, 0),
        owner,
        new LeaseTerms(0, 300_000, true, false),
        AttemptStart.now(context.holds(), context.ticker()));
  }

  private void failWithoutMemory() {
    if (!memory) {
      refused.incrementAndGet();
      throw new OutOfMemoryError("on purpose");
    }
  }

  private Thread thread(Runnable task, String name) {
    failWithoutMemory();
    return new Thread(task, name);
  }

  /** Returns the same with workers that need memory, and so does a task for later. */
  private LeaseContext context(LeaseContext of) {
    Ticker ofTasks =
        new Ticker() {
          @Override
          public long read() {
            failWithoutMemory();
            return of.nanos();
          }
        };
    memory = true;
    BackgroundTasks tasks = new BackgroundTasks(workers, of.scheduler(), of.closing(), ofTasks);
    memory = false;
    return new TestContext(of).tasks(tasks).build();
  }

  @AfterEach
  void close() {
    memory = true;
    client.close();
    workers.close();
    server.close();
  }

  /** A lock over several nodes depends on it: otherwise it would never take the node again. */
  @Test
  void aDependentThatHadNoMemoryIsNotifiedAgain() {
    memory = true;
    assertTrue(context.holds().register(lease, context.holds().epoch()));
    AtomicInteger calls = new AtomicInteger();
    var unused =
        lease.onChangeWhileHeld(
            state -> {
              if (calls.incrementAndGet() == 1) {
                throw new OutOfMemoryError("on purpose");
              }
              notified.add(state);
            },
            true);

    assertTrue(lease.lose(Reason.MISSING, context.nanos(), "on purpose"));

    await().atMost(BackgroundCall.LIVENESS).until(() -> notified.equals(List.of(State.LOST)));
    await().atMost(BackgroundCall.LIVENESS).until(() -> client.status().scheduled() == 0);
    assertEquals(2, calls.get());
  }

  /** As a lock over several nodes does, which gives up a node, or is lost with it. */
  @Test
  void aDependentThatReleasesItAndHasNoMemoryIsNotifiedAgain() {
    memory = true;
    assertTrue(context.holds().register(lease, context.holds().epoch()));
    var unused =
        lease.onChangeWhileHeld(
            state -> {
              lease.releaseInBackground();
              assertThrows(LeaseLostException.class, lease::release);
              notified.add(state);
              if (notified.size() == 1) {
                throw new OutOfMemoryError("on purpose");
              }
            },
            true);

    assertTrue(lease.lose(Reason.MISSING, context.nanos(), "on purpose"));

    await().atMost(BackgroundCall.LIVENESS).until(() -> notified.size() == 2);
    await().atMost(BackgroundCall.LIVENESS).until(() -> client.status().scheduled() == 0);
  }

  /** The release leaves the lost hold to the scheduler. */
  @Test
  void itsListenersAreNotifiedThoughItsOwnerHasReleasedIt() {
    RedisLease owned = lease(Thread.currentThread());
    assertTrue(context.holds().register(owned, context.holds().epoch()));
    owned.onLost(loss -> notified.add(loss.reason()));
    assertTrue(owned.lose(Reason.MISSING, context.nanos(), "on purpose"));

    assertThrows(LeaseLostException.class, owned::release);

    memory = true;
    await().atMost(BackgroundCall.LIVENESS).until(() -> notified.equals(List.of(Reason.MISSING)));
    await().atMost(BackgroundCall.LIVENESS).until(() -> client.status().scheduled() == 0);
  }

  @Test
  void itsListenersAndDependentsAreNotifiedOnceThereIsMemoryAgain() {
    assertTrue(context.holds().register(lease, context.holds().epoch()));
    lease.onLost(loss -> notified.add(loss.reason()));
    var unused = lease.onChangeWhileHeld(notified::add, true);

    assertTrue(lease.lose(Reason.MISSING, context.nanos(), "on purpose"));

    int once = refused.get();
    await().atMost(BackgroundCall.LIVENESS).until(() -> refused.get() > once);
    assertEquals(List.of(State.LOST), notified, "a dependent, by the thread of the change");
    memory = true;
    await().atMost(BackgroundCall.LIVENESS).until(() -> notified.size() >= 2);
    await().atMost(BackgroundCall.LIVENESS).until(() -> client.status().scheduled() == 0);
    assertEquals(1, notified.stream().filter(Reason.MISSING::equals).count());
    assertEquals(1, notified.stream().filter(State.LOST::equals).count());
  }
}
