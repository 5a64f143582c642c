package io.mortise.it.redlock;

import static io.mortise.it.support.Eventually.LIVENESS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.TestThreads;
import io.mortise.multilock.MultiLock;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** After a forceUnlock of a composite lock no thread enters by the old hold. */
@Timeout(120)
class QuorumForceTest {
  private static final Duration BUDGET = Duration.ofSeconds(2);
  private static final int ROUNDS = 100;

  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(3);

  private final String name = Names.fresh();
  private final QuorumClients here = nodes.direct(LockOptions.defaults(), BUDGET);
  private final QuorumClients there = nodes.direct(LockOptions.defaults(), BUDGET);

  /** The composition of a lock. */
  @SuppressWarnings("ImmutableEnumChecker") // the functions have no state
  enum Composition {
    QUORUM(QuorumClients::lock),
    IN_ONE_ROUND_TRIP(
        (process, name) ->
            new MultiLock(
                new RedisLock(process.client(0), name + ":a"),
                new RedisLock(process.client(0), name + ":b"))),
    ON_TWO_SERVERS(
        (process, name) ->
            new MultiLock(
                new RedisLock(process.client(0), name), new RedisLock(process.client(1), name))),
    OF_READ_AND_WRITE(
        (process, name) ->
            new MultiLock(
                new RedisReadWriteLock(process.client(0), name).readLock(),
                new RedisReadWriteLock(process.client(1), name).writeLock()));

    private final BiFunction<QuorumClients, String, DistributedLock> factory;

    Composition(BiFunction<QuorumClients, String, DistributedLock> factory) {
      this.factory = factory;
    }

    DistributedLock of(QuorumClients process, String name) {
      return factory.apply(process, name);
    }
  }

  /** Locks and unlocks, and counts how often it is inside while another client is. */
  private static void cycle(
      DistributedLock lock, AtomicBoolean end, AtomicBoolean heldThere, AtomicInteger intruders) {
    while (!end.get()) {
      lock.lock();
      if (heldThere.get() && lock.lease().isValid() && heldThere.get()) {
        intruders.incrementAndGet();
      }
      try {
        lock.unlock();
      } catch (LeaseLostException forced) {
        // as expected
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void noThreadOfTheForcingClientEntersByTheOldHold(Composition composition) throws Exception {
    AtomicBoolean end = new AtomicBoolean();
    AtomicBoolean heldThere = new AtomicBoolean();
    AtomicInteger intruders = new AtomicInteger();
    DistributedLock ours = composition.of(here, name);
    DistributedLock theirs = composition.of(there, name);
    int acquired = 0;
    try (TestThreads threads = new TestThreads()) {
      for (int i = 0; i < 3; i++) {
        threads.start(() -> cycle(ours, end, heldThere, intruders));
      }
      for (int round = 0; round < ROUNDS; round++) {
        var unused = ours.forceUnlock();
        if (theirs.tryLock()) {
          acquired++;
          heldThere.set(true);
          Eventually.holdsFor(Duration.ofMillis(6), "held", () -> theirs.lease().isValid());
          heldThere.set(false);
          theirs.unlock();
        }
      }
      end.set(true);
      threads.join(LIVENESS);
    }
    System.out.printf(
        "%s: forced %d times, then acquired by another %d times%n", composition, ROUNDS, acquired);
    assertEquals(0, intruders.get());
    assertAvailableToAll(composition);
  }

  @ParameterizedTest
  @EnumSource
  void theHolderIsNotifiedAndLosesItsHold(Composition composition) throws Exception {
    for (boolean ourselves : new boolean[] {true, false}) {
      QuorumClients forcing = ourselves ? here : there;
      DistributedLock ours = composition.of(here, name);
      Lease handle = ours.tryAcquire().orElseThrow();
      assertTrue(composition.of(forcing, name).forceUnlock());
      assertFalse(composition.of(there, name).isLocked());
      if (ourselves) {
        assertEquals(State.LOST, handle.state(), "at once, in the client that forces");
      }
      Lease next = composition.of(there, name).tryAcquire().orElseThrow();
      Eventually.until("the loss is notified", () -> handle.state() == State.LOST);
      assertTrue(next.fencingToken() > handle.fencingToken());
      next.ensureValid();
      next.close();
    }
    assertAvailableToAll(composition);
  }

  private void assertAvailableToAll(Composition composition) throws Exception {
    for (QuorumClients process : List.of(here, there)) {
      DistributedLock lock = composition.of(process, name);
      assertTrue(lock.tryLock(LIVENESS));
      lock.unlock();
    }
    assertFalse(composition.of(here, name).isLocked());
  }
}
