package io.mortise.it.events;

import static io.mortise.core.LockEvent.Type.RELEASED;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockEvent;
import io.mortise.core.LockListener;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Elapsed;
import io.mortise.it.support.LoggedWarnings;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A listener beside the locks: its thread, and what it cannot do to them. */
@Timeout(120)
@SuppressWarnings("LockNotBeforeTry") // nothing is done under the locks
class ListenerTest {
  /** More than the queue takes of the events of a cycle. */
  private static final int CYCLES = 4_000;

  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private final EventLog log = new EventLog();

  private static void cycle(LockClient client, int times) {
    RedisLock lock = new RedisLock(client, Names.fresh());
    for (int i = 0; i < times; i++) {
      lock.lock();
      lock.unlock();
    }
  }

  private static List<String> eventThreads(LockClient client) {
    return ClientResources.threads(client).stream()
        .filter(name -> name.startsWith("mortise-events-"))
        .toList();
  }

  @Test
  void aClientWithoutAListenerHasNoThreadForEvents() {
    try (LockClient client = redis.client()) {
      cycle(client, 1);

      assertEquals(List.of(), eventThreads(client));
      assertEquals(0, client.status().droppedEvents());
    }
  }

  @Test
  void aListenerHasADaemonThreadUntilTheClientIsClosed() {
    AtomicReference<Thread> thread = new AtomicReference<>();
    LockOptions options =
        log.options().listener(event -> thread.set(Thread.currentThread())).build();
    LockClient client = LockClient.create(redis.uri(), options);
    cycle(client, 1);
    log.await(RELEASED, 1);

    assertEquals(1, eventThreads(client).size());
    until("the second listener was called too", () -> thread.get() != null);
    assertEquals(eventThreads(client), List.of(thread.get().getName()));
    assertTrue(thread.get().isDaemon());

    client.close();

    until("its thread has ended", () -> eventThreads(client).isEmpty());
  }

  @Test
  void aListenerThatBlocksStopsNoLockAndNoClosing() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    LockListener blocking =
        event -> {
          try {
            gate.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        };
    LockOptions options =
        LockOptions.builder().listener(blocking).commandTimeout(Duration.ofSeconds(2)).build();
    LockClient client = LockClient.create(redis.uri(), options);

    cycle(client, CYCLES);

    assertTrue(client.status().droppedEvents() > 0);
    long millis = Elapsed.millisOf(client::close);
    assertTrue(millis < 5_000, () -> "closing took " + millis + " ms");
    until("its threads have ended", () -> ClientResources.threads(client).isEmpty());
    assertEquals(3L * CYCLES - 1, client.status().droppedEvents(), "all but the first");
  }

  @Test
  void aListenerThatThrowsIsLoggedOnceAndCalledAgain() {
    LoggedWarnings.note();
    String mark = "broken listener " + Names.fresh();
    LockListener broken =
        new LockListener() {
          @Override
          public void onEvent(LockEvent event) {
            throw new IllegalStateException("on purpose");
          }

          @Override
          public String toString() {
            return mark;
          }
        };
    try (LockClient client =
        LockClient.create(
            redis.uri(), LockOptions.builder().listener(broken).listener(log).build())) {
      cycle(client, 20);
      log.await(RELEASED, 20);
    }

    assertEquals(1, LoggedWarnings.about(mark).size());
  }

  @Test
  void aListenerMayLockAndCloseTheClient() throws Exception {
    CompletableFuture<LockClient> made = new CompletableFuture<>();
    CompletableFuture<Boolean> locked = new CompletableFuture<>();
    String name = Names.fresh();
    LockListener closing =
        event -> {
          if (event.type() == RELEASED && !locked.isDone()) {
            RedisLock lock = new RedisLock(made.join(), name);
            locked.complete(lock.tryLock());
            lock.unlock();
            made.join().close();
          }
        };
    LockClient client =
        LockClient.create(
            redis.uri(), LockOptions.builder().listener(closing).listener(log).build());
    made.complete(client);

    cycle(client, 1);

    assertTrue(locked.get(20, TimeUnit.SECONDS));
    until("the client is closed", client::isClosed);
    until("its threads have ended", () -> ClientResources.threads(client).isEmpty());
    assertFalse(redis.exists(name));
    assertEquals(2, log.of(RELEASED).size(), "also that of the listener itself");
  }
}
