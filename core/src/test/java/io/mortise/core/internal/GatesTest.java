package io.mortise.core.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.spi.Attempt;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.Terms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class GatesTest {
  private static final long AN_HOUR = 3_600_000_000_000L;

  private final Gates gates = new Gates(System::nanoTime);

  @Test
  void oneLockHasOneGateAndAnotherLockAnother() {
    Gate gate = gates.join("a");

    assertSame(gate, gates.join("a"));
    assertNotSame(gate, gates.join("b"));
    assertEquals(2, gates.size());
  }

  @Test
  void theLastWhoLeavesTakesTheGateAway() {
    Gate gate = gates.join("a");
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
    Gate gate = gates.join("a");
    gates.join("a");
    gates.join("a");
    assertTrue(gate.enter(0, true));

    gates.leave("a", gate, true);

    assertTrue(gate.enter(0, true));
    assertFalse(gate.enter(0, true), "one permit, not two");
  }

  @Test
  void whoHasNoPermitPassesNoneOn() throws Exception {
    Gate gate = gates.join("a");
    gates.join("a");
    assertTrue(gate.enter(0, true));

    gates.leave("a", gate, false);

    assertFalse(gate.enter(0, true));
  }

  @Test
  void neverTwoAreInsideAndNothingStaysBehind() throws Exception {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger turns = new AtomicInteger();
    List<TestThread<Integer>> threads = new ArrayList<>();
    for (int t = 0; t < 8; t++) {
      threads.add(
          TestThread.start(
              () -> {
                int crowds = 0;
                for (int i = 0; i < 2_000; i++) {
                  String lock = "lock";
                  Gate gate = gates.join(lock);
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

    for (TestThread<Integer> thread : threads) {
      assertEquals(0, thread.get());
    }
    assertTrue(turns.get() > 8 * 1_000, "most waited for their turn: " + turns);
    assertEquals(0, gates.size());
  }

  @Test
  void closingLeavesNobodyInALine() throws Exception {
    Gate a = gates.join("a");
    Gate b = gates.join("b");
    assertTrue(a.enter(0, true));
    assertTrue(b.enter(0, true));
    List<TestThread<Boolean>> waiters = new ArrayList<>();
    for (Gate gate : List.of(a, a, b, b)) {
      waiters.add(TestThread.startAndPark(() -> gate.enter(Terms.FOREVER, false)));
    }

    gates.close();

    for (TestThread<Boolean> waiter : waiters) {
      assertTrue(waiter.get());
    }
  }

  @Test
  void theLockCountsAsHeldHereWhileItsHoldIsValidAndHasThePermit() {
    try (LockClient client = LockClient.create("redis://127.0.0.1:1")) {
      Engine engine = (Engine) client;
      Gate gate = gates.join("a");
      assertFalse(gate.isHeldHere());

      gate.heldBy(lease(engine, System.nanoTime()));
      assertTrue(gate.isHeldHere());
      gate.pass();
      assertFalse(gate.isHeldHere(), "the permit went on");

      gate.heldBy(lease(engine, System.nanoTime() - AN_HOUR));
      assertFalse(gate.isHeldHere(), "its lease is over");
    }
  }

  private static LeaseHandle lease(Engine engine, long sentNanos) {
    LockProtocol protocol = new FakeProtocol("a");
    Terms terms = Terms.of(engine.options(), Duration.ZERO, Duration.ofMinutes(10), false);
    LeaseContext context = engine.context().lease();
    return new LeaseHandle(
        context,
        protocol,
        "client:1",
        new Attempt.Acquired(1, 0),
        null,
        terms,
        new Sending(sentNanos, context.holds().epoch()));
  }
}
