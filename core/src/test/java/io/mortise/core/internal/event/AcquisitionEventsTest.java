package io.mortise.core.internal.event;

import static io.mortise.core.LockEvent.Type.ACQUIRED;
import static io.mortise.core.LockEvent.Type.HANDED_OFF;
import static io.mortise.core.LockEvent.Type.LOST;
import static io.mortise.core.LockEvent.Type.NOT_ACQUIRED;
import static io.mortise.core.LockEvent.Type.REACHABLE;
import static io.mortise.core.LockEvent.Type.RELEASED;
import static io.mortise.core.LockEvent.Type.RENEWED_LATE;
import static io.mortise.core.LockEvent.Type.REQUESTED;
import static io.mortise.core.LockEvent.Type.UNREACHABLE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.testing.FakeTicker;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LockEvent;
import io.mortise.core.LockException;
import io.mortise.core.spi.FakeLease;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The events of one acquisition and of its servers, by a clock that stands still. */
@Timeout(60)
class AcquisitionEventsTest {
  private static final Instant NOW = Instant.parse("2026-11-22T12:00:00Z");
  private final CommandException fault =
      new CommandException(CommandException.Kind.UNREACHABLE, true, "first", null);
  private final CommandException later =
      new CommandException(CommandException.Kind.NOT_READY, true, "second", null);

  private final FakeTicker ticker = new FakeTicker();
  private final List<LockEvent> delivered = new CopyOnWriteArrayList<>();
  private volatile boolean outOfMemory;
  private final EventQueue queue =
      new EventQueue(
          List.of(delivered::add),
          ticker,
          task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
          });
  private final EventContext context =
      new EventContext("client", ticker, this::instant, this::converted, new AtomicLong(), queue);

  private final FakeLease hold = new FakeLease("orders").granted(42, 41);

  AcquisitionEventsTest() {
    queue.start();
  }

  @AfterEach
  void close() {
    queue.close(TimeUnit.SECONDS.toNanos(20));
  }

  private Instant instant() {
    if (outOfMemory) {
      throw new InternalError("as an OutOfMemoryError, at which JUnit would give up");
    }
    return NOW;
  }

  private LockException converted(CommandException fault) {
    return new LockException(
        LockException.Reason.valueOf(fault.kind().name()), fault.getMessage(), null);
  }

  private AcquisitionEvents requested() {
    AcquisitionEvents events =
        AcquisitionEvents.requested(context, "lock", "orders", Thread.currentThread());
    assertNotNull(events);
    return events;
  }

  /** With the queue closed, so that all has been delivered. */
  private List<LockEvent> events() {
    queue.close(TimeUnit.SECONDS.toNanos(20));
    return delivered;
  }

  private List<LockEvent.Type> types() {
    return events().stream().map(LockEvent::type).toList();
  }

  private void advance(long millis) {
    ticker.advance(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  private static Duration millis(long millis) {
    return Duration.ofMillis(millis);
  }

  private LeaseLoss lossAfter(long millis) {
    return new LeaseLoss(
        "orders",
        42,
        LeaseLoss.Reason.FORCED,
        ticker.read() + TimeUnit.MILLISECONDS.toNanos(millis),
        "by force");
  }

  @Test
  void anAcquisitionIsRequestedAcquiredAndReleased() {
    AcquisitionEvents events = requested();
    advance(5);
    events.acquired(hold, false);
    advance(20);
    events.onEnd().accept(null);

    assertEquals(List.of(REQUESTED, ACQUIRED, RELEASED), types());
    for (LockEvent event : delivered) {
      assertEquals("client", event.clientId());
      assertEquals("orders", event.lockName().orElseThrow());
      assertEquals("lock", event.lockKind().orElseThrow());
      assertEquals(OptionalLong.of(1), event.acquisition());
      assertEquals(Thread.currentThread().getName(), event.threadName().orElseThrow());
      assertTrue(event.threadId().isPresent());
      assertEquals(NOW, event.at());
      assertFalse(event.isLocal());
    }
    assertTrue(delivered.get(0).duration().isEmpty());
    assertTrue(delivered.get(0).fencingToken().isEmpty());
    assertEquals(millis(5), delivered.get(1).duration().orElseThrow());
    assertEquals(OptionalLong.of(42), delivered.get(1).fencingToken());
    assertEquals(millis(20), delivered.get(2).duration().orElseThrow());
  }

  @Test
  void eachAcquisitionHasItsOwnNumber() {
    requested();
    requested();

    assertEquals(
        List.of(1L, 2L),
        events().stream().map(event -> event.acquisition().orElseThrow()).toList());
  }

  @Test
  void aFailedAcquisitionHasTheCause() {
    InterruptedException interrupted = new InterruptedException();
    requested().notAcquired(null);
    AcquisitionEvents second = requested();
    advance(7);
    second.notAcquired(interrupted);

    assertEquals(List.of(REQUESTED, NOT_ACQUIRED, REQUESTED, NOT_ACQUIRED), types());
    assertTrue(delivered.get(1).cause().isEmpty());
    assertSame(interrupted, delivered.get(3).cause().orElseThrow());
    assertEquals(millis(7), delivered.get(3).duration().orElseThrow());
  }

  @Test
  void theEndIsReportedOnceAndALossHasItsMoment() {
    AcquisitionEvents events = requested();
    events.acquired(hold, true);
    LeaseLoss loss = lossAfter(30);
    advance(50);
    events.onEnd().accept(loss);
    events.onEnd().accept(null);

    assertEquals(List.of(REQUESTED, ACQUIRED, LOST), types());
    LockEvent lost = delivered.get(2);
    assertSame(loss, lost.loss().orElseThrow());
    assertEquals(loss.at(), lost.at());
    assertEquals(millis(30), lost.duration().orElseThrow());
    assertTrue(lost.isLocal());
  }

  @Test
  void aRenewalInTimeIsNotReported() {
    AcquisitionEvents events = requested();
    events.acquired(hold, false);
    events.renewalSent(ticker.read());
    advance(10);
    events.renewed(millis(10).toNanos());
    events.renewed(0); // by an extension, without a renewal under way

    assertEquals(List.of(REQUESTED, ACQUIRED), types());
  }

  @Test
  void aLateReplyIsReportedSinceTheRenewalWasDue() {
    AcquisitionEvents events = requested();
    events.acquired(hold, false);
    long dueNanos = ticker.read();
    advance(8);
    events.renewalSent(dueNanos);
    advance(3);
    events.renewed(millis(10).toNanos());
    events.renewalSent(ticker.read());
    events.renewed(millis(10).toNanos());

    assertEquals(List.of(REQUESTED, ACQUIRED, RENEWED_LATE), types());
    assertEquals(millis(11), delivered.get(2).duration().orElseThrow());
    assertTrue(delivered.get(2).cause().isEmpty());
  }

  @Test
  void aRenewalThatFailedFirstIsReportedWithItsFirstCause() {
    AcquisitionEvents events = requested();
    events.acquired(hold, false);
    events.renewalSent(ticker.read());
    advance(1);
    events.renewalFailed(fault);
    events.renewalSent(ticker.read());
    advance(1);
    events.renewalFailed(later);
    events.renewalSent(ticker.read());
    advance(1);
    events.renewed(millis(10).toNanos());

    assertEquals(List.of(REQUESTED, ACQUIRED, RENEWED_LATE), types());
    assertEquals(millis(3), delivered.get(2).duration().orElseThrow());
    assertEquals("first", delivered.get(2).cause().orElseThrow().getMessage());
  }

  @Test
  void aRenewalIsNotReportedAfterTheEnd() {
    AcquisitionEvents events = requested();
    events.acquired(hold, false);
    events.renewalFailed(fault);
    events.handedOver();
    events.onEnd().accept(null);
    events.renewed(0);

    assertEquals(List.of(REQUESTED, ACQUIRED, HANDED_OFF, RELEASED), types());
  }

  @Test
  void aHoldThatReadersShareBelongsToNoAcquisition() {
    AcquisitionEvents events = requested();
    events.acquired(hold, false);
    AcquisitionEvents shared = events.ofSharedHold();
    assertNotNull(shared);
    shared.renewalFailed(fault);
    shared.renewed(0);

    LockEvent late = events().get(2);
    assertEquals(RENEWED_LATE, late.type());
    assertTrue(late.acquisition().isEmpty());
    assertTrue(late.threadName().isEmpty());
    assertEquals(OptionalLong.of(42), late.fencingToken());
  }

  @Test
  void withoutMemoryEventsAreDroppedAndNothingIsThrown() {
    AcquisitionEvents events = requested();
    outOfMemory = true;
    assertNull(AcquisitionEvents.requested(context, "lock", "orders", Thread.currentThread()));
    events.acquired(hold, false);
    events.handedOver();
    events.renewalFailed(fault);
    events.renewed(0);
    events.onEnd().accept(null);
    events.notAcquired(null);
    new ServerEvents(context, queue).changed("server", fault);

    assertEquals(List.of(REQUESTED), types());
    assertEquals(7, queue.dropped());
  }

  @Test
  void aServerIsUnreachableAndBack() {
    ServerEvents servers = new ServerEvents(context, queue);
    servers.changed("server", fault);
    servers.changed("other", later);
    advance(9);
    servers.changed("server", null);

    assertEquals(List.of(UNREACHABLE, UNREACHABLE, REACHABLE), types());
    assertEquals("server", delivered.get(0).server().orElseThrow());
    assertEquals("first", delivered.get(0).cause().orElseThrow().getMessage());
    assertTrue(delivered.get(0).lockName().isEmpty());
    assertEquals(millis(9), delivered.get(2).duration().orElseThrow());
  }
}
