package io.mortise.core.internal.handoff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.BackgroundCall;
import io.mortise.core.LockClient;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.lease.AttemptStart;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.RedisLease;
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

  private final LocalQueues gates = new LocalQueues(System::nanoTime);

  @Test
  void oneLockHasOneGateAndAnotherLockAnother() {
    LocalQueue gate = gates.join("a");

    assertSame(gate, gates.join("a"));
    assertNotSame(gate, gates.join("b"));
    assertEquals(2, gates.size());
  }

  @Test
  void theLastWhoLeavesTakesTheGateAway() {
    LocalQueue gate = gates.join("a");
    gates.join("a");

    gates.leave("a", gate, false);
    assertSame(gate, gates.join("a"), "somebody is still there");
    gates.leave("a", gate, false);
    gates.leave("a", gate, false);

    assertEquals(0, gates.size());
    assertNotSame(gate, gates.join("a"));
  }

  @Test
  void leavingPassesThePermitOnExactlyOnce() throws Exception {
    LocalQueue gate = gates.join("a");
    gates.join("a");
    gates.join("a");
    assertTrue(gate.enter(0, true));

    gates.leave("a", gate, true);

    assertTrue(gate.enter(0, true));
    assertFalse(gate.enter(0, true), "one permit, not two");
  }

  @Test
  void whoHasNoPermitPassesNoneOn() throws Exception {
    LocalQueue gate = gates.join("a");
    gates.join("a");
    assertTrue(gate.enter(0, true));

    gates.leave("a", gate, false);

    assertFalse(gate.enter(0, true));
  }

  @Test
  void neverTwoAreInsideAndNothingStaysBehind() throws Exception {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger turns = new AtomicInteger();
    List<BackgroundCall<Integer>> threads = new ArrayList<>();
    for (int t = 0; t < 8; t++) {
      threads.add(
          BackgroundCall.start(
              () -> {
                int crowds = 0;
                for (int i = 0; i < 2_000; i++) {
                  String lock = "lock";
                  LocalQueue gate = gates.join(lock);
                  boolean permit = gate.enter(i % 3 == 0 ? 0 : AN_HOUR, true);
                  if (permit) {
                    crowds += inside.incrementAndGet() == 1 ? 0 : 1;
                    turns.incrementAndGet();
                    inside.decrementAndGet();
                  }
                  gates.leave(lock, gate, permit);
                }
                return crowds;
              }));
    }

    for (BackgroundCall<Integer> thread : threads) {
      assertEquals(0, thread.get());
    }
    assertTrue(turns.get() > 8 * 1_000, "most waited for their turn: " + turns);
    assertEquals(0, gates.size());
  }

  @Test
  void closingLeavesNobodyInALine() throws Exception {
    LocalQueue a = gates.join("a");
    LocalQueue b = gates.join("b");
    assertTrue(a.enter(0, true));
    assertTrue(b.enter(0, true));
    List<BackgroundCall<Boolean>> waiters = new ArrayList<>();
    for (LocalQueue gate : List.of(a, a, b, b)) {
      waiters.add(BackgroundCall.startAndPark(() -> gate.enter(LeaseTerms.FOREVER, false)));
    }

    gates.close();

    for (BackgroundCall<Boolean> waiter : waiters) {
      assertTrue(waiter.get());
    }
  }

  @Test
  void theLockCountsAsHeldHereWhileItsHoldIsValidAndHasThePermit() {
    try (LockClient client = LockClient.create("redis://127.0.0.1:1")) {
      RedisLockClient engine = (RedisLockClient) client;
      LocalQueue gate = gates.join("a");
      assertFalse(gate.isHeldHere());

      gate.setHolder(lease(engine, System.nanoTime()));
      assertTrue(gate.isHeldHere());
      gate.release();
      assertFalse(gate.isHeldHere(), "the permit went on");

      gate.setHolder(lease(engine, System.nanoTime() - AN_HOUR));
      assertFalse(gate.isHeldHere(), "its lease is over");
    }
  }

  private static RedisLease lease(RedisLockClient engine, long sentNanos) {
    LockProtocol protocol = new FakeProtocol("a");
    LeaseTerms terms =
        LeaseTerms.of(engine.options(), Duration.ZERO, Duration.ofMinutes(10), false);
    LeaseContext context = engine.context().lease();
    return new RedisLease(
        context,
        protocol,
        "client:1",
        new AcquireResult.Acquired(1, 0),
        null,
        terms,
        new AttemptStart(sentNanos, context.holds().epoch()));
  }
}
