package io.mortise.connection.concurrent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import io.mortise.connection.testing.BackgroundCall;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class OperationCounterTest {
  private static final long LIMIT = 100;

  /** The number of readings: each wait passes its limit after that many. */
  private final AtomicInteger readings = new AtomicInteger();

  private final OperationCounter operations =
      new OperationCounter(
          new Ticker() {
            @Override
            public long read() {
              return readings.incrementAndGet();
            }
          });

  /** Returns whether a wait ends before its limit. */
  private boolean isZero() {
    int before = readings.get();
    operations.awaitZero(LIMIT);
    return readings.get() - before < LIMIT;
  }

  @Test
  void theWaitLastsUntilNoOperationIsUnderWayOrItsTimeIsOver() {
    assertTrue(isZero());
    operations.begin();
    operations.begin();
    assertEquals(false, isZero());
    operations.end();
    assertEquals(false, isZero());
    operations.end();
    assertTrue(isZero());
  }

  @Test
  void aThreadThatWaitsSeesTheLastOperationEnd() throws Exception {
    OperationCounter awaited = new OperationCounter(Ticker.systemTicker());
    awaited.begin();
    Thread waiting = new Thread(() -> awaited.awaitZero(BackgroundCall.LIVENESS.toNanos() * 2));
    waiting.start();
    BackgroundCall.awaitParked(waiting);

    awaited.end();

    waiting.join(BackgroundCall.LIVENESS.toMillis());
    assertEquals(false, waiting.isAlive());
  }

  @Test
  void anInterruptEndsNoWaitAndIsKept() {
    operations.begin();
    Thread.currentThread().interrupt();

    assertEquals(false, isZero());

    assertTrue(Thread.interrupted());
  }

  /** As at the end of a stack: its operation is counted off again, by the next one who can. */
  @Test
  void anEndThatThrowsHasNotCountedOff() {
    operations.begin();
    assertEquals(false, isZero()); // the client is being closed

    endWhereTheStackAllowsIt();

    assertTrue(isZero(), "it was counted off twice, or not at all");
    operations.begin();
    assertEquals(false, isZero(), "it was counted off twice");
  }

  @SuppressWarnings("InfiniteRecursion") // the stack ends it
  private void endWhereTheStackAllowsIt() {
    boolean ended = false;
    try {
      endWhereTheStackAllowsIt();
      ended = true;
    } catch (StackOverflowError deeper) {
      ended = false;
    }
    if (!ended) {
      operations.end();
    }
  }
}
