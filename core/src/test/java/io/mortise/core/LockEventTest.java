package io.mortise.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class LockEventTest {

  private static LockEvent.Builder builder(LockEvent.Type type) {
    return LockEvent.builder(type, "client", Instant.EPOCH);
  }

  @Test
  void anEventSaysInItsTextWhatItHas() {
    LockEvent acquired =
        builder(LockEvent.Type.ACQUIRED)
            .lock("fair lock", "orders")
            .acquisition(3, "worker", 17)
            .duration(Duration.ofMillis(5))
            .fencingToken(42)
            .local(true)
            .build();

    assertEquals(
        "ACQUIRED fair lock 'orders', acquisition 3 of thread 'worker', token 42, PT0.005S, local",
        acquired.toString());
    assertEquals(OptionalLong.of(17), acquired.threadId());
    assertEquals(
        "UNREACHABLE redis:6379: java.lang.IllegalStateException: gone",
        builder(LockEvent.Type.UNREACHABLE)
            .server("redis:6379")
            .cause(new IllegalStateException("gone"))
            .build()
            .toString());
  }

  @Test
  void whatABuilderWasNotGivenIsAbsent() {
    LockEvent event = builder(LockEvent.Type.REACHABLE).build();

    assertTrue(event.lockName().isEmpty());
    assertTrue(event.lockKind().isEmpty());
    assertTrue(event.acquisition().isEmpty());
    assertTrue(event.threadName().isEmpty());
    assertTrue(event.threadId().isEmpty());
    assertTrue(event.duration().isEmpty());
    assertTrue(event.fencingToken().isEmpty());
    assertTrue(event.loss().isEmpty());
    assertTrue(event.server().isEmpty());
    assertTrue(event.cause().isEmpty());
  }

  @Test
  void aLossHasHappenedAtItsOwnMoment() {
    LeaseLoss loss =
        new LeaseLoss("orders", 42, LeaseLoss.Reason.FORCED, System.nanoTime(), "by force");

    assertEquals(loss.at(), builder(LockEvent.Type.LOST).loss(loss).build().at());
  }

  @Test
  void aDurationIsNotNegative() {
    assertEquals(
        Duration.ZERO,
        builder(LockEvent.Type.LOST)
            .duration(Duration.ofNanos(-1))
            .build()
            .duration()
            .orElseThrow());
  }

  @Test
  void theLeastIsNeeded() {
    assertThrows(
        NullPointerException.class, () -> LockEvent.builder(null, "client", Instant.EPOCH));
    assertThrows(
        NullPointerException.class,
        () -> LockEvent.builder(LockEvent.Type.LOST, null, Instant.EPOCH));
    assertThrows(
        NullPointerException.class, () -> LockEvent.builder(LockEvent.Type.LOST, "client", null));
  }
}
