package io.mortise.core.internal.lease;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.internal.lease.LeaseStatus.Phase;
import io.mortise.core.internal.lease.TransferableHold.TokenReserve;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.scripts.Script;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A release gives the slot of its hold up once, and leaves no hold in Redis. */
@Timeout(60)
class SlotAtReleaseTest {
  private static final LeaseTerms TERMS = new LeaseTerms(0, 30_000, true, false);
  private static final long MISSING = 0;
  private static final String RELEASE = new String(Script.load("lock/release").sha1(), UTF_8);

  private static final String RELEASED = RespServer.integers(List.of(1L, 0L));

  private volatile String answer = RELEASED;
  private final RespServer server = new RespServer(command -> answer);
  private final RedisLockClient client =
      TestClients.of(
          server,
          LockOptions.builder().tuning(t -> t.maxHandOffTime(Duration.ofMinutes(1))).build());
  private final FragileTicker ofReleases = new FragileTicker(Ticker.systemTicker());
  private final LeaseContext context =
      new TestContext(client.context().lease()).tickerOfReleases(ofReleases).build();
  private final HoldParts hold = new HoldParts(context, TERMS);

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private static void reach(CountDownLatch latch) {
    try {
      assertTrue(latch.await(BackgroundCall.LIVENESS.toSeconds(), TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** The first thread that gives it up stops in the middle of that. */
  private static final class PausedSlot extends FakeQueueSlot {
    final AtomicInteger releases = new AtomicInteger();
    final CountDownLatch goOn = new CountDownLatch(1);

    @Override
    public boolean hasWaiters() {
      return false;
    }

    @Override
    public void release() {
      if (releases.incrementAndGet() == 1) {
        reach(goOn);
      }
    }
  }

  /** Redis has run the renewal behind the release, and both replies arrive together. */
  @Test
  void aRenewalThatFindsNoHoldDuringItsReleaseLeavesTheSlotToTheRelease() throws Exception {
    PausedSlot slot = new PausedSlot();
    hold.slot.set(slot);
    AtomicReference<@Nullable BackgroundCall<Void>> worker = new AtomicReference<>();
    hold.state.onEnd(
        loss -> {
          if (worker.get() == null) {
            BackgroundCall<Void> reply =
                BackgroundCall.start(
                    () -> {
                      hold.renewal.onReply(MISSING, System.nanoTime());
                      return null;
                    });
            worker.set(reply);
            await()
                .atMost(BackgroundCall.LIVENESS)
                .until(() -> reply.isDone() || slot.releases.get() > 0);
            if (reply.isDone()) {
              slot.goOn.countDown();
            }
          }
        });

    hold.release.release();

    slot.goOn.countDown();
    Objects.requireNonNull(worker.get()).get();
    assertEquals(1, slot.releases.get());
  }

  /** Lets the last waiter leave before it takes the hold. */
  private void handOffInVain(Runnable meanwhile) {
    hold.slot.set(
        new FakeQueueSlot() {
          @Override
          public TransferableHold handOff(TransferableHold offered, Runnable beforeOffer) {
            meanwhile.run();
            beforeOffer.run();
            return offered;
          }
        });
    hold.slot.reserveTokensUntil(16);
  }

  @Test
  void theLossOfAnUnclaimedHoldIsKnownToItsOwner() {
    handOffInVain(() -> answer = RespServer.integers(List.of(0L, 0L)));

    assertTrue(hold.release.release());

    assertEquals(Reason.MISSING, hold.state.loss().orElseThrow().reason());
    assertEquals(Phase.RELEASED, hold.state.now().phase());
    assertThrows(LeaseLostException.class, hold.state::throwIfLost);
    assertEquals(1, releases());
    assertEquals(0, context.releases().size());
  }

  /** Another thread has had it meanwhile, and has left. */
  @Test
  void theLossOfALaterHoldIsNoneOfThisOne() {
    answer = RespServer.integers(List.of(0L, 0L));
    TransferableHold later =
        hold.timing.toTransferableHold(HoldParts.HOLDER, 7, TransferableHold.TokenReserve.NONE);
    hold.slot.set(
        new FakeQueueSlot() {
          @Override
          public TransferableHold handOff(TransferableHold offered, Runnable beforeOffer) {
            beforeOffer.run();
            return later;
          }
        });
    hold.slot.reserveTokensUntil(16);

    assertTrue(hold.release.release());

    assertEquals(Optional.empty(), hold.state.loss());
    assertEquals(1, releases());
  }

  @Test
  void theFaultAtAnUnclaimedHoldIsThrownAndItsReleaseRepeated() {
    handOffInVain(() -> answer = "-ERR on purpose\r\n");

    LockException fault = assertThrows(LockException.class, hold.release::release);

    assertTrue(fault.getMessage().contains("repeated in the background"), fault::getMessage);
    answer = RELEASED;
    await().atMost(BackgroundCall.LIVENESS).until(() -> releases() > 1);
  }

  /** The heap is full. */
  @Test
  void anUnclaimedHoldIsReleasedAfterAnError() {
    handOffInVain(
        () -> {
          answer = "-ERR on purpose\r\n";
          ofReleases.fillHeapOnce();
        });

    assertThrows(OutOfMemoryError.class, hold.release::release);

    answer = RELEASED;
    await().atMost(BackgroundCall.LIVENESS).until(() -> releases() > 1); // one was refused
  }

  /** A slot whose hand-off an error ends, as when the stack overflows. */
  private static final class OverflowingSlot extends FakeQueueSlot {
    private final boolean afterOffer;

    /** What nobody has taken when the hand-off is completed. */
    private @Nullable TransferableHold unclaimed;

    OverflowingSlot(boolean afterOffer) {
      this.afterOffer = afterOffer;
    }

    @Override
    public TransferableHold handOff(TransferableHold offered, Runnable beforeOffer) {
      if (afterOffer) {
        beforeOffer.run();
      }
      throw new StackOverflowError("on purpose");
    }

    @Override
    public @Nullable TransferableHold completeHandOff() {
      return unclaimed;
    }
  }

  private void handOffInto(OverflowingSlot slot) {
    hold.slot.set(slot);
    hold.slot.reserveTokensUntil(16);
    assertThrows(StackOverflowError.class, hold.release::release);
  }

  @Test
  void aHoldThatAnErrorKeepsFromTheNextThreadIsReleased() {
    handOffInto(new OverflowingSlot(false));

    await().atMost(BackgroundCall.LIVENESS).until(() -> releases() > 0);
  }

  /** The next thread may have it by now. */
  @Test
  void aHoldThatWasOfferedBeforeAnErrorIsNotReleased() {
    answer = "-ERR on purpose\r\n"; // a release would be repeated

    handOffInto(new OverflowingSlot(true));

    assertEquals(0, context.releases().size());
    assertEquals(0, releases());
  }

  /** The waiter gives up before the thread that offers can have released its permit. */
  @Test
  void aHoldThatWasOfferedBeforeAnErrorIsReleasedIfNobodyTakesIt() {
    OverflowingSlot slot = new OverflowingSlot(true);
    slot.unclaimed = hold.timing.toTransferableHold(HoldParts.HOLDER, 1, TokenReserve.NONE);

    handOffInto(slot);

    await().atMost(BackgroundCall.LIVENESS).until(() -> releases() > 0);
  }

  private int releases() {
    return (int)
        server.heard().stream()
            .filter(command -> command.get(1).equals(RELEASE) && command.contains(HoldParts.HOLDER))
            .count();
  }
}
