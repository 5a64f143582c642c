package io.mortise.core.internal.handoff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.BackgroundCall;
import io.mortise.core.LockClient;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.lease.AttemptStart;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.LockId;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.internal.lease.TransferableHold;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LocalQueuesTest {
  private static final long AN_HOUR = 3_600_000_000_000L;
  private static final LockId A = new LockId("lock", "a");
  private static final LockId B = new LockId("lock", "b");

  private static final TransferableHold HOLD =
      new TransferableHold("id:1", 0, 0, 1, 7, TransferableHold.TokenReserve.NONE, 0);

  private final LocalQueues queues = new LocalQueues(System::nanoTime);

  @Test
  void eachLockHasItsOwnQueue() {
    LocalQueue queue = queues.join(A);

    assertSame(queue, queues.join(A));
    assertNotSame(queue, queues.join(B));
    assertEquals(2, queues.size());
  }

  @Test
  void theLastUserRemovesTheQueue() {
    LocalQueue queue = queues.join(A);
    queues.join(A);

    queues.leave(A, queue);
    assertSame(queue, queues.join(A), "somebody is still there");
    queues.leave(A, queue);
    queues.leave(A, queue);

    assertEquals(0, queues.size());
    assertNotSame(queue, queues.join(A));
  }

  @Test
  void aSlotReleasesItsPermitExactlyOnce() throws Exception {
    LocalQueue queue = queues.join(A);
    queues.join(A);
    queues.join(A);
    assertTrue(queue.enter(0, true));

    new LocalQueueSlot(queues, A, queue, true).release();

    assertTrue(queue.enter(0, true));
    assertFalse(queue.enter(0, true), "one permit, not two");
  }

  @Test
  void aSlotWithoutThePermitReleasesNone() throws Exception {
    LocalQueue queue = queues.join(A);
    queues.join(A);
    assertTrue(queue.enter(0, true));

    new LocalQueueSlot(queues, A, queue, false).release();

    assertFalse(queue.enter(0, true));
  }

  /** The error comes between the permit and the count of those that use the queue. */
  @Test
  void aSlotThatIsReleasedAgainAfterAnErrorReleasesNoSecondPermit() throws Exception {
    LocalQueue queue = queues.join(A);
    assertTrue(queue.enter(0, true));
    LocalQueueSlot slot = new LocalQueueSlot(queues, null, queue, true);
    assertThrows(NullPointerException.class, slot::release);

    assertThrows(NullPointerException.class, slot::release);

    assertTrue(queue.enter(0, true));
    assertFalse(queue.enter(0, true), "one permit, not two");
  }

  @Test
  void aHandOffThatIsCompletedAgainNeitherReleasesThePermitNorLeavesTheQueueTwice()
      throws Exception {
    LocalQueue queue = queues.join(A);
    queues.join(A);
    assertTrue(queue.enter(0, true));
    LocalQueueSlot slot = new LocalQueueSlot(queues, A, queue, true);
    assertSame(HOLD, slot.handOff(HOLD, () -> {}));

    assertNull(slot.completeHandOff());

    assertEquals(1, queues.size(), "another acquisition uses it");
    assertTrue(queue.enter(0, true));
    assertFalse(queue.enter(0, true), "one permit, not two");
  }

  /** The error comes between the offer and the permit, and the last waiter gives up meanwhile. */
  @Test
  void aHandOffThatAnErrorHasEndedReturnsTheHoldThatNobodyWillTake() throws Exception {
    LocalQueue queue = queues.join(A);
    assertTrue(queue.enter(0, true));
    queue.offerHold(HOLD);
    assertNull(queue.takeUnclaimedHold(), "the permit is not free yet");

    assertSame(HOLD, new LocalQueueSlot(queues, A, queue, true).completeHandOff());

    assertEquals(0, queues.size());
  }

  /** It was removed, and another acquisition has made the next one. */
  @Test
  void aQueueThatIsLeftAgainAfterAnErrorDoesNotCountForTheNextOne() {
    LocalQueue removed = queues.join(A);
    queues.leave(A, removed);
    LocalQueue next = queues.join(A);

    queues.leave(A, removed);

    assertSame(next, queues.join(A));
  }

  @Test
  void onlyOneThreadHasThePermitAndNoQueueIsLeftBehind() throws Exception {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger turns = new AtomicInteger();
    List<BackgroundCall<Integer>> threads = new ArrayList<>();
    for (int t = 0; t < 8; t++) {
      threads.add(
          BackgroundCall.start(
              () -> {
                int crowds = 0;
                for (int i = 0; i < 2_000; i++) {
                  LocalQueue queue = queues.join(A);
                  boolean permit = queue.enter(i % 3 == 0 ? 0 : AN_HOUR, true);
                  if (permit) {
                    crowds += inside.incrementAndGet() == 1 ? 0 : 1;
                    turns.incrementAndGet();
                    inside.decrementAndGet();
                  }
                  if (permit) {
                    queue.release();
                  }
                  queues.leave(A, queue);
                }
                return crowds;
              }));
    }

    for (BackgroundCall<Integer> thread : threads) {
      assertEquals(0, thread.get());
    }
    assertTrue(turns.get() > 8 * 1_000, "most waited for their turn: " + turns);
    assertEquals(0, queues.size());
  }

  @Test
  void closingLeavesNoThreadWaiting() throws Exception {
    LocalQueue a = queues.join(A);
    LocalQueue b = queues.join(B);
    assertTrue(a.enter(0, true));
    assertTrue(b.enter(0, true));
    List<BackgroundCall<Boolean>> waiters = new ArrayList<>();
    for (LocalQueue queue : List.of(a, a, b, b)) {
      waiters.add(BackgroundCall.startAndPark(() -> queue.enter(LeaseTerms.FOREVER, false)));
    }

    queues.close();

    for (BackgroundCall<Boolean> waiter : waiters) {
      assertTrue(waiter.get());
    }
  }

  @Test
  void theLockCountsAsHeldHereWhileItsHoldIsValidAndHasThePermit() {
    try (LockClient client = LockClient.create("redis://127.0.0.1:1")) {
      LocalQueue queue = queues.join(A);
      assertFalse(queue.isHeldHere());

      queue.setHolder(lease((RedisLockClient) client, System.nanoTime()));
      assertTrue(queue.isHeldHere());
      queue.release();
      assertFalse(queue.isHeldHere(), "the permit went on");

      queue.setHolder(lease((RedisLockClient) client, System.nanoTime() - AN_HOUR));
      assertFalse(queue.isHeldHere(), "its lease is over");
    }
  }

  private static RedisLease lease(RedisLockClient client, long sentNanos) {
    LockProtocol protocol = new FakeProtocol("a");
    LeaseTerms terms =
        LeaseTerms.of(client.options(), Duration.ZERO, Duration.ofMinutes(10), false);
    LeaseContext context = client.context().lease();
    return RedisLease.granted(
        context,
        protocol,
        "client:1",
        new AcquireResult.Acquired(1, 0),
        null,
        terms,
        new AttemptStart(sentNanos, context.holds().epoch()));
  }
}
