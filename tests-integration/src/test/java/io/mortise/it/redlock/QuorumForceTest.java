package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
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
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A lock that is made of others, taken by force: nobody enters by the old hold afterwards. */
@Timeout(120)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class QuorumForceTest {
  private static final Duration BUDGET = Duration.ofSeconds(2);
  private static final int ROUNDS = 100;

  private static FaultyNodes nodes;
  private static QuorumClients here;
  private static QuorumClients there;

  private final String name = Names.fresh();

  /** What it is made of. */
  enum Made {
    QUORUM {
      @Override
      DistributedLock of(QuorumClients party, String name) {
        return party.lock(name);
      }
    },
    TOGETHER {
      @Override
      DistributedLock of(QuorumClients party, String name) {
        LockClient one = party.clients().get(0);
        return new MultiLock(new RedisLock(one, name + ":a"), new RedisLock(one, name + ":b"));
      }
    },
    ON_TWO_SERVERS {
      @Override
      DistributedLock of(QuorumClients party, String name) {
        return new MultiLock(
            new RedisLock(party.clients().get(0), name),
            new RedisLock(party.clients().get(1), name));
      }
    },
    OF_READ_AND_WRITE {
      @Override
      DistributedLock of(QuorumClients party, String name) {
        return new MultiLock(
            new RedisReadWriteLock(party.clients().get(0), name).readLock(),
            new RedisReadWriteLock(party.clients().get(1), name).writeLock());
      }
    };

    abstract DistributedLock of(QuorumClients party, String name);
  }

  @BeforeAll
  static void start() throws Exception {
    nodes = FaultyNodes.start(3);
    here = nodes.direct(LockOptions.defaults(), BUDGET).warm();
    there = nodes.direct(LockOptions.defaults(), BUDGET).warm();
  }

  @AfterAll
  static void stop() {
    here.close();
    there.close();
    nodes.close();
  }

  /** Locks and unlocks, and counts how often it is inside while another client is. */
  private static void cycle(
      DistributedLock lock, AtomicBoolean end, AtomicBoolean taken, AtomicInteger intruders) {
    while (!end.get()) {
      lock.lock();
      if (taken.get() && lock.lease().isValid() && taken.get()) {
        intruders.incrementAndGet();
      }
      try {
        lock.unlock();
      } catch (LeaseLostException forced) {
        // that is what this is about
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Made.class)
  void nobodyOfTheClientThatForcesEntersByTheOldHold(Made made) throws Exception {
    AtomicBoolean end = new AtomicBoolean();
    AtomicBoolean taken = new AtomicBoolean();
    AtomicInteger intruders = new AtomicInteger();
    DistributedLock ours = made.of(here, name);
    DistributedLock theirs = made.of(there, name);
    int had = 0;
    try (TestThreads crew = new TestThreads()) {
      for (int i = 0; i < 3; i++) {
        crew.start(() -> cycle(ours, end, taken, intruders));
      }
      for (int round = 0; round < ROUNDS; round++) {
        var unused = ours.forceUnlock();
        if (theirs.tryLock()) {
          had++;
          taken.set(true);
          Eventually.holdsFor(Duration.ofMillis(6), "held", () -> theirs.lease().isValid());
          taken.set(false);
          theirs.unlock();
        }
      }
      end.set(true);
      crew.join(QuorumClients.LIVENESS);
    }
    System.out.printf("%s: forced %d times, then had by another %d times%n", made, ROUNDS, had);
    assertEquals(0, intruders.get());
    assertFreeForAll(made);
  }

  @ParameterizedTest
  @EnumSource(Made.class)
  void theHolderIsToldAndCannotGoOn(Made made) throws Exception {
    for (boolean ourselves : new boolean[] {true, false}) {
      QuorumClients forcing = ourselves ? here : there;
      DistributedLock ours = made.of(here, name);
      Lease handle = ours.tryAcquire().orElseThrow();
      assertTrue(made.of(forcing, name).forceUnlock());
      assertFalse(made.of(there, name).isLocked());
      if (ourselves) {
        assertEquals(State.LOST, handle.state(), "at once, in the client that forces");
      }
      Lease next = made.of(there, name).tryAcquire().orElseThrow();
      Eventually.until("told", () -> handle.state() == State.LOST);
      assertTrue(next.fencingToken() > handle.fencingToken());
      next.ensureValid();
      next.close();
    }
    assertFreeForAll(made);
  }

  private void assertFreeForAll(Made made) throws Exception {
    for (QuorumClients party : List.of(here, there)) {
      DistributedLock lock = made.of(party, name);
      assertTrue(lock.tryLock(QuorumClients.LIVENESS));
      lock.unlock();
    }
    assertFalse(made.of(here, name).isLocked());
  }
}
