package io.mortise.it.events;

import static io.mortise.core.LockEvent.Type.ACQUIRED;
import static io.mortise.core.LockEvent.Type.HANDED_OFF;
import static io.mortise.core.LockEvent.Type.LOST;
import static io.mortise.core.LockEvent.Type.NOT_ACQUIRED;
import static io.mortise.core.LockEvent.Type.RELEASED;
import static io.mortise.core.LockEvent.Type.REQUESTED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockEvent;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The events of holds that threads of one client give to each other, or share. */
@Timeout(120)
@SuppressWarnings("LockNotBeforeTry") // the tests are about the time in between
class LocalHoldEventsTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private final EventLog log = new EventLog();
  private final String name = Names.fresh();
  private final LockClient client = LockClient.create(redis.uri(), options());
  private final RedisLock lock = new RedisLock(client, name);

  /** Without a limit that a test reaches. */
  private LockOptions options() {
    return log.options().tuning(t -> t.maxHandOffTime(Duration.ofMinutes(1))).build();
  }

  @AfterEach
  void close() {
    client.close();
  }

  private DistributedLock read() {
    return new RedisReadWriteLock(client, name).readLock();
  }

  /** The second thread asks Redis with the third behind it, and so may hand its hold over. */
  @Test
  void aHandedOverHoldIsReleasedByOneAndAcquiredLocallyByTheNext() throws Exception {
    lock.lock();
    AsyncCall<Void> second = AsyncCall.cycle(lock).awaitQueued();
    AsyncCall<Void> third = AsyncCall.cycle(lock).awaitQueued();

    lock.unlock();
    second.get();
    third.get();

    List<LockEvent> events =
        log.await(
            REQUESTED,
            ACQUIRED,
            REQUESTED,
            REQUESTED,
            RELEASED,
            ACQUIRED,
            HANDED_OFF,
            RELEASED,
            ACQUIRED,
            RELEASED);
    assertEquals(
        List.of(1L, 1L, 2L, 3L, 1L, 2L, 2L, 2L, 3L, 3L),
        events.stream().map(event -> event.acquisition().orElseThrow()).toList());
    LockEvent fromRedis = events.get(5);
    LockEvent fromThread = events.get(8);
    assertFalse(fromRedis.isLocal());
    assertTrue(fromThread.isLocal());
    assertTrue(events.get(9).isLocal());
    assertEquals(fromRedis.fencingToken(), events.get(6).fencingToken());
    assertTrue(fromThread.fencingToken().orElseThrow() > fromRedis.fencingToken().orElseThrow());
    assertEquals(third.thread().getName(), fromThread.threadName().orElseThrow());
  }

  @Test
  void whenThreadsQueueEachHoldHasOneEnd() throws Exception {
    int threads = 8;
    int cycles = 200;
    int total = threads * cycles;
    List<AsyncCall<Void>> calls =
        IntStream.range(0, threads)
            .mapToObj(
                i ->
                    AsyncCall.run(
                        () -> {
                          for (int n = 0; n < cycles; n++) {
                            lock.lock();
                            lock.unlock();
                          }
                        }))
            .toList();
    AsyncCall.join(calls);

    log.await(RELEASED, total);
    assertEquals(0, client.status().droppedEvents());
    assertFalse(log.of(HANDED_OFF).isEmpty());
    for (long number = 1; number <= total; number++) {
      List<LockEvent.Type> types = EventLog.types(log.of(number));
      assertTrue(
          types.equals(List.of(REQUESTED, ACQUIRED, RELEASED))
              || types.equals(List.of(REQUESTED, ACQUIRED, HANDED_OFF, RELEASED)),
          types::toString);
    }
    assertTheHoldsAreDisjoint();
  }

  /** By the order of the events, which is that of the holds. */
  private void assertTheHoldsAreDisjoint() {
    long inside = 0;
    for (LockEvent event : log.all()) {
      if (event.type() == ACQUIRED) {
        assertEquals(0, inside, () -> "before " + event);
        inside = event.acquisition().orElseThrow();
      } else if (event.type() == HANDED_OFF || event.type() == RELEASED) {
        inside = 0;
      }
    }
  }

  @Test
  void readersThatShareAHoldEachHaveTheirEvents() {
    Lease first = read().tryAcquire().orElseThrow();
    Lease second = read().tryAcquire().orElseThrow();
    first.close();
    second.close();

    List<LockEvent> events =
        log.await(REQUESTED, ACQUIRED, REQUESTED, ACQUIRED, RELEASED, RELEASED);
    assertFalse(events.get(1).isLocal());
    assertTrue(events.get(3).isLocal());
    assertEquals(1, events.get(4).acquisition().orElseThrow());
    assertEquals(2, events.get(5).acquisition().orElseThrow());
  }

  @Test
  void aSharedHoldIsLostToEachOfItsReaders() {
    List<Lease> leases =
        List.of(read().tryAcquire().orElseThrow(), read().tryAcquire().orElseThrow());

    assertTrue(read().forceUnlock());

    for (LockEvent lost : log.await(LOST, 2)) {
      assertEquals(LeaseLoss.Reason.FORCED, lost.loss().orElseThrow().reason());
    }
    assertEquals(List.of(REQUESTED, ACQUIRED, LOST), EventLog.types(log.of(1)));
    assertEquals(List.of(REQUESTED, ACQUIRED, LOST), EventLog.types(log.of(2)));
    leases.forEach(lease -> assertThrows(LeaseLostException.class, lease::close));
  }

  @Test
  void aThreadThatGivesUpInTheLocalQueueHasNotAcquired() throws Exception {
    lock.lock();
    AtomicReference<Boolean> granted = new AtomicReference<>();
    AsyncCall<Void> other = AsyncCall.run(() -> granted.set(lock.tryLock(Duration.ofMillis(100))));
    other.get();

    assertEquals(false, granted.get());
    LockEvent failed = log.await(NOT_ACQUIRED, 1).get(0);
    assertTrue(failed.cause().isEmpty(), failed::toString);
    lock.unlock();
  }
}
