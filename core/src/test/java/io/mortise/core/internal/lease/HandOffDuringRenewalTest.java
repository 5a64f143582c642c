package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.spi.LeaseTerms;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A renewal that Redis refuses, at each moment of a hand-off: the next holder asks Redis at the
 * time at which that renewal was due, and not an interval after it. The moments are those at which
 * the releasing thread reads the clock.
 */
@Timeout(60)
class HandOffDuringRenewalTest {
  private static final LeaseTerms TERMS = new LeaseTerms(0, 30_000, true, false);
  private static final long MISSING = 0;

  private final RespServer server = new RespServer(command -> RespServer.integers(List.of(1L, 0L)));
  private final RedisLockClient client =
      TestClients.of(
          server,
          LockOptions.builder().tuning(t -> t.maxHandOffTime(Duration.ofMinutes(1))).build());
  private final HandOffClock clock = new HandOffClock();

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  /** Runs another thread's part when the releasing thread reads it for that time. */
  private static final class HandOffClock extends Ticker {
    private final Thread releasing = Thread.currentThread();
    private int readings;
    private int moment;
    private Runnable otherThread = () -> {};

    void runAt(int reading, Runnable part) {
      readings = 0;
      moment = reading;
      otherThread = part;
    }

    @Override
    public long read() {
      if (Thread.currentThread() == releasing && ++readings == moment) {
        otherThread.run();
      }
      return Ticker.systemTicker().read();
    }
  }

  /** Keeps the hold that is handed off. */
  private static final class KeepingSlot extends FakeQueueSlot {
    private @Nullable TransferableHold handedOff;

    @Override
    public @Nullable TransferableHold handOff(TransferableHold hold, Runnable beforeOffer) {
      handedOff = hold;
      return super.handOff(hold, beforeOffer);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(BackgroundCall.LIVENESS.toSeconds(), TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Hands a hold off; the scheduler has found it live before, and sends its renewal at that reading
   * of the clock.
   *
   * @return the hold that was handed off; null if it was not
   */
  private @Nullable TransferableHold handOff(int reading) throws Exception {
    HoldParts hold = new HoldParts(TestContext.unsent(client.context().lease(), clock), TERMS);
    KeepingSlot slot = new KeepingSlot();
    hold.slot.set(slot);
    hold.slot.reserveTokensUntil(16);
    long due = hold.timing.nextRequestNanos();
    CountDownLatch foundLive = new CountDownLatch(1);
    CountDownLatch sends = new CountDownLatch(1);
    hold.renewal.setShared(
        () -> {
          foundLive.countDown();
          await(sends);
          return false;
        });
    BackgroundCall<Void> scheduler =
        BackgroundCall.start(
            () -> {
              hold.renewal.onDue(due);
              hold.renewal.onReply(MISSING, due);
              return null;
            });
    await(foundLive);
    clock.runAt(
        reading,
        () -> {
          sends.countDown();
          try {
            scheduler.get();
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        });

    hold.release.release();

    sends.countDown();
    scheduler.get();
    TransferableHold handedOff = slot.handedOff;
    if (handedOff != null) {
      assertEquals(due, handedOff.nextRequestNanos(), () -> "at reading " + reading);
    }
    return handedOff;
  }

  @Test
  void theNextHolderAsksWhenTheRefusedRenewalWasDue() throws Exception {
    int handedOff = 0;
    int reading = 0;
    do {
      reading++;
      handedOff += handOff(reading) == null ? 0 : 1;
    } while (clock.readings >= reading);

    assertTrue(reading > 3, "the renewal was sent at several moments");
    assertTrue(handedOff > 1, "also after the look whether the hold is settled");
  }
}
