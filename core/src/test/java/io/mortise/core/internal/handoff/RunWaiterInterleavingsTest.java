package io.mortise.core.internal.handoff;

import static io.mortise.connection.testing.Interleavings.check;
import static io.mortise.connection.testing.Interleavings.race;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.mortise.connection.concurrent.Signal;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.engine.FakeRunProtocol;
import io.mortise.core.internal.lease.TransferableHold;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The hold of a run goes to the waiter, which wakes, or stays with the giver. */
@Tag("interleavings")
class RunWaiterInterleavingsTest {
  private static final int SCHEDULES = 200;
  private static final long FOREVER = Long.MAX_VALUE;
  private static final RunWaiter.Offer OFFER =
      new RunWaiter.Offer(new FakeRunProtocol(new FakeProtocol("orders"), List.of("id:2"), 0))
          .of(new TransferableHold("id:1", 0, 0, 1, 7, TransferableHold.TokenReserve.NONE, 0));

  @Test
  void anOfferWakesTheWaiter() {
    check(
        SCHEDULES,
        () -> {
          RunWaiter waiter = new RunWaiter(1);
          Signal signal = new Signal();
          race(
              () -> {
                long seen = signal.generation();
                if (!waiter.awaits(signal)) {
                  signal.await(seen, FOREVER);
                }
                assertNotNull(waiter.offered());
              },
              () -> waiter.offer(OFFER, () -> {}));
        });
  }

  @Test
  void aWaiterThatLeavesHasTheOfferOrTheGiverKeepsIt() {
    check(
        SCHEDULES,
        () -> {
          RunWaiter waiter = new RunWaiter(1);
          AtomicInteger owners = new AtomicInteger();
          race(
              () -> {
                if (!waiter.leave()) {
                  assertNotNull(waiter.offered());
                  owners.incrementAndGet();
                  waiter.end();
                }
              },
              () -> {
                if (!waiter.offer(OFFER, () -> {})) {
                  owners.incrementAndGet();
                }
              });
          assertEquals(1, owners.get(), "of whom the hold is");
        });
  }
}
