package io.mortise.it.events;

import static io.mortise.core.LockEvent.Type.ACQUIRED;
import static io.mortise.core.LockEvent.Type.LOST;
import static io.mortise.core.LockEvent.Type.NOT_ACQUIRED;
import static io.mortise.core.LockEvent.Type.RELEASED;
import static io.mortise.core.LockEvent.Type.REQUESTED;
import static io.mortise.it.support.Eventually.holdsFor;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockEvent;
import io.mortise.core.LockException;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.LateAnswer;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The events of an acquisition and its hold, the same for each lock family. */
@Timeout(120)
@SuppressWarnings("LockNotBeforeTry") // the tests are about the time in between
class EachFamilyEventsTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private final EventLog log = new EventLog();
  private final String name = Names.fresh();
  private final LockClient client =
      LockClient.create(redis.uri(), log.options().lease(Duration.ofSeconds(30)).build());

  @AfterEach
  void close() {
    client.close();
  }

  /** A family of locks, by the kind that events name. */
  @SuppressWarnings("ImmutableEnumChecker") // the functions have no state
  enum Family {
    PLAIN("lock", RedisLock::new),
    FAIR("fair lock", RedisFairLock::new),
    READ("read lock", (client, name) -> new RedisReadWriteLock(client, name).readLock()),
    WRITE("write lock", (client, name) -> new RedisReadWriteLock(client, name).writeLock());

    private final String kind;
    private final BiFunction<LockClient, String, DistributedLock> factory;

    Family(String kind, BiFunction<LockClient, String, DistributedLock> factory) {
      this.kind = kind;
      this.factory = factory;
    }
  }

  private DistributedLock lock(Family family) {
    return family.factory.apply(client, name);
  }

  /** Another client that holds the lock, so that nobody else is granted it. */
  private final class Rival implements AutoCloseable {
    private final LockClient other = redis.client();
    private final Lease lease;

    Rival(Family family) {
      // Readers are kept out by a writer.
      Family holding = family == Family.READ ? Family.WRITE : family;
      lease = holding.factory.apply(other, name).tryAcquire().orElseThrow();
    }

    @Override
    public void close() {
      lease.close();
      other.close();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aHoldIsRequestedAcquiredAndReleased(Family family) {
    Instant before = Instant.now();
    DistributedLock lock = lock(family);
    lock.lock();
    long token = lock.lease().fencingToken();
    assertTrue(lock.tryLock(), "a re-entry is not reported");
    lock.unlock();
    lock.unlock();

    List<LockEvent> events = log.await(REQUESTED, ACQUIRED, RELEASED);
    for (LockEvent event : events) {
      assertEquals(client.id(), event.clientId());
      assertEquals(name, event.lockName().orElseThrow());
      assertEquals(family.kind, event.lockKind().orElseThrow());
      assertEquals(1, event.acquisition().orElseThrow());
      assertEquals(Thread.currentThread().getName(), event.threadName().orElseThrow());
      assertFalse(event.at().isBefore(before.minusMillis(1)), event::toString);
      assertFalse(event.isLocal());
    }
    assertTrue(events.get(1).duration().isPresent());
    assertEquals(token, events.get(1).fencingToken().orElseThrow());
    assertEquals(token, events.get(2).fencingToken().orElseThrow());
    assertTrue(events.get(2).duration().isPresent());
    assertEquals(0, client.status().droppedEvents());
  }

  @ParameterizedTest
  @EnumSource
  void aBusyLockIsNotAcquiredAndThereIsNoCause(Family family) throws Exception {
    DistributedLock lock = lock(family);
    try (Rival rival = new Rival(family)) {
      assertTrue(rival.lease.isValid());

      Duration wait = Duration.ofMillis(50);
      assertTrue(LateAnswer.repeat(wait, () -> twoAttempts(lock, wait)).isEmpty());

      List<LockEvent> events = log.all();
      assertTrue(events.get(1).cause().isEmpty(), events::toString);
      assertTrue(events.get(3).cause().isEmpty(), events::toString);
      Duration waited = events.get(3).duration().orElseThrow();
      assertTrue(waited.compareTo(Duration.ofMillis(50)) >= 0, events::toString);
    }
  }

  /** Without a wait, and with one; all events of these are in the log, and no others. */
  private Optional<Lease> twoAttempts(DistributedLock lock, Duration wait) throws Exception {
    log.clear();
    try {
      assertFalse(lock.tryLock());
      return lock.acquire(wait);
    } finally {
      log.await(REQUESTED, NOT_ACQUIRED, REQUESTED, NOT_ACQUIRED);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aForcedHoldIsLostWithTheReason(Family family) {
    DistributedLock lock = lock(family);
    lock.lock();
    long token = lock.lease().fencingToken();

    assertTrue(lock.forceUnlock());

    LockEvent lost = log.await(LOST, 1).get(0);
    assertEquals(LeaseLoss.Reason.FORCED, lost.loss().orElseThrow().reason());
    assertEquals(token, lost.fencingToken().orElseThrow());
    assertThrows(LeaseLostException.class, lock::unlock);
    assertEquals(List.of(REQUESTED, ACQUIRED, LOST), EventLog.types(log.of(1)));
  }

  @ParameterizedTest
  @EnumSource
  void aLeaseThatRunsOutIsLostThen(Family family) throws Exception {
    Duration lease = Duration.ofMillis(300);
    Lease handle = lock(family).withLease(lease).acquire();

    LockEvent lost = log.await(LOST, 1).get(0);

    assertEquals(LeaseLoss.Reason.EXPIRED, lost.loss().orElseThrow().reason());
    assertTrue(lost.duration().orElseThrow().compareTo(lease) <= 0, lost::toString);
    assertThrows(LeaseLostException.class, handle::close);
    holdsFor(
        Duration.ofMillis(100),
        "a second end is not reported",
        () -> EventLog.types(log.of(1)).equals(List.of(REQUESTED, ACQUIRED, LOST)));
  }

  @ParameterizedTest
  @EnumSource
  void anAsynchronousAcquisitionHasTheThreadThatAsked(Family family) throws Exception {
    Lease lease =
        lock(family)
            .acquireAsync(Duration.ofSeconds(5))
            .toCompletableFuture()
            .get(20, TimeUnit.SECONDS)
            .orElseThrow();
    lease.close();

    for (LockEvent event : log.await(REQUESTED, ACQUIRED, RELEASED)) {
      assertEquals(Thread.currentThread().getName(), event.threadName().orElseThrow());
    }
  }

  @ParameterizedTest
  @EnumSource
  void closingTheClientReportsItsHoldsAndWaitersBeforeItReturns(Family family) throws Exception {
    try (Rival rival = new Rival(family)) {
      assertTrue(rival.lease.isValid());
      Lease held = family.factory.apply(client, name + ":held").tryAcquire().orElseThrow();
      AsyncCall<Boolean> waiter = waiter(family);

      client.close();

      LockEvent lost = log.of(LOST).get(0);
      assertEquals(LeaseLoss.Reason.CLIENT_CLOSED, lost.loss().orElseThrow().reason());
      assertEquals(held.fencingToken(), lost.fencingToken().orElseThrow());
      Throwable cause = log.of(NOT_ACQUIRED).get(0).cause().orElseThrow();
      assertEquals(
          LockException.Reason.CLIENT_CLOSED,
          assertInstanceOf(LockException.class, cause).reason());
      assertThrows(LockException.class, waiter::get);
      assertEquals(0, client.status().droppedEvents());
    }
  }

  private AsyncCall<Boolean> waiter(Family family) {
    DistributedLock lock = lock(family);
    return AsyncCall.start(() -> lock.tryLock(Duration.ofHours(1))).awaitParked();
  }

  @ParameterizedTest
  @EnumSource
  void anInterruptedWaitHasTheInterruptAsItsCause(Family family) throws Exception {
    try (Rival rival = new Rival(family)) {
      assertTrue(rival.lease.isValid());
      AsyncCall<Boolean> waiter = waiter(family);

      waiter.interrupt();

      assertThrows(InterruptedException.class, waiter::get);
      LockEvent failed = log.await(NOT_ACQUIRED, 1).get(0);
      assertInstanceOf(InterruptedException.class, failed.cause().orElseThrow());
      assertEquals(waiter.thread().getName(), failed.threadName().orElseThrow());
    }
  }

  @ParameterizedTest
  @EnumSource
  void aCancelledStageIsAnAcquisitionThatWasInterrupted(Family family) {
    try (Rival rival = new Rival(family)) {
      assertTrue(rival.lease.isValid());
      CompletableFuture<?> stage =
          lock(family).acquireAsync(Duration.ofHours(1)).toCompletableFuture();
      log.await(REQUESTED, 1);

      stage.cancel(false);

      Throwable cause = log.await(NOT_ACQUIRED, 1).get(0).cause().orElseThrow();
      assertInstanceOf(InterruptedException.class, cause);
    }
  }
}
