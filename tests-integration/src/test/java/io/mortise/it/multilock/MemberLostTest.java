package io.mortise.it.multilock;

import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.it.support.ClientResources;
import io.mortise.multilock.MultiLock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One member lost is all lost: told once, with the reason. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class MemberLostTest {
  private static final int LOST = 1;

  @RegisterExtension static final MemberServers sites = new MemberServers(3);

  /** How a member is lost. */
  enum Loss {
    BY_FORCE(Reason.FORCED) {
      @Override
      void happens() {
        assertTrue(sites.other(LOST).forceUnlock());
      }
    },
    BY_FORCE_OF_THE_PROCESS_ITSELF(Reason.FORCED) {
      @Override
      void happens() {
        assertTrue(sites.lock(LOST).forceUnlock());
      }
    },
    KEY_DELETED(Reason.MISSING) {
      @Override
      void happens() {
        sites.server(LOST).command("DEL", sites.name(LOST));
      }
    },
    ALL_FLUSHED(Reason.MISSING) {
      @Override
      void happens() {
        sites.server(LOST).command("FLUSHALL");
      }
    },
    RESTARTED_EMPTY(Reason.MISSING) {
      @Override
      void happens() {
        sites.server(LOST).kill();
        sites.server(LOST).restart();
      }
    },
    CUT_OFF_FOR_TOO_LONG(Reason.EXPIRED) {
      @Override
      void happens() {
        MemberFault.CUT_OFF.begin(sites, LOST);
      }
    },
    CLIENT_CLOSED(Reason.CLIENT_CLOSED) {
      @Override
      void happens() {
        sites.here(LOST).close();
      }
    };

    private final Reason reason;

    Loss(Reason reason) {
      this.reason = reason;
    }

    abstract void happens();
  }

  private MultiLock lock;
  private final List<LeaseLoss> told = new CopyOnWriteArrayList<>();

  @BeforeEach
  void open() {
    lock = sites.multi();
  }

  private void assertTold(Loss loss, Lease lease) {
    until("it is told", () -> !told.isEmpty());
    LeaseLoss first = told.get(0);
    assertEquals(loss.reason, first.reason(), first::toString);
    assertEquals(lock.name(), first.lockName());
    assertEquals(lease.fencingToken(), first.fencingToken());
    assertTrue(first.detail().contains(sites.name(LOST)), first::detail);
    assertFalse(first.detail().contains(sites.name(0)), first::detail);
    assertEquals(Lease.State.LOST, lease.state());
    assertEquals(first, lease.loss().orElseThrow());
    assertEquals(Duration.ZERO, lease.remaining());
  }

  private static void assertThrown(Loss loss, Executable call) {
    LeaseLostException thrown = assertThrows(LeaseLostException.class, call);
    assertEquals(loss.reason, thrown.loss().reason(), thrown::toString);
  }

  private void assertOver() {
    sites.restore();
    sites.awaitHeld(Set.of());
    for (int i = 0; i < 3; i++) {
      if (!sites.here(i).isClosed()) {
        ClientResources.awaitNone(sites.here(i));
      }
    }
    assertEquals(1, told.size(), "told once");
  }

  @ParameterizedTest
  @EnumSource
  void aHandleGivesTheOthersBackAtOnce(Loss loss) {
    Lease lease = lock.tryAcquire().orElseThrow();
    lease.onLost(told::add);

    loss.happens();

    assertTold(loss, lease);
    until("the others are free", () -> !sites.isHeld(0) && !sites.isHeld(2));
    assertThrown(loss, lease::ensureValid);
    assertThrown(loss, lease::close);
    lease.close();
    assertOver();
  }

  @ParameterizedTest
  @EnumSource
  void aThreadKeepsTheOthersUntilItUnlocks(Loss loss) {
    lock.lock();
    Lease lease = lock.lease();
    lease.onLost(told::add);

    loss.happens();

    assertTold(loss, lease);
    holdsFor(Duration.ofMillis(500), "it keeps them", () -> sites.isHeld(0) && sites.isHeld(2));
    assertEquals(0, lock.holdCount());
    assertTrue(sites.lock(0).isHeldByCurrentThread());
    assertFalse(sites.lock(LOST).isHeldByCurrentThread());
    assertFalse(sites.other(0).tryLock());
    assertThrown(loss, lock::unlock);
    assertFalse(sites.isHeld(0), "released by unlock");
    assertFalse(sites.isHeld(2), "released by unlock");
    for (int i = 0; i < 3; i++) {
      assertThrows(IllegalMonitorStateException.class, sites.lock(i)::unlock);
    }
    assertOver();
  }

  @Test
  void unlockTellsOfALossThatNobodyHasSeenBefore() throws Exception {
    lock.lock();
    sites.server(LOST).command("DEL", sites.name(LOST));
    assertThrown(Loss.KEY_DELETED, lock::unlock);
    assertEquals(Set.of(), sites.held());
    assertTrue(sites.otherMulti().tryLock());
    sites.otherMulti().unlock();
  }

  @Test
  void theNextHolderOfTheMemberIsNotReleased() throws Exception {
    lock.lock();
    assertTrue(sites.other(LOST).forceUnlock());
    assertTrue(sites.other(LOST).tryLock());
    assertThrown(Loss.BY_FORCE, lock::unlock);
    assertEquals(Set.of(LOST), sites.held());
    sites.other(LOST).lease().ensureValid();
    sites.other(LOST).unlock();
  }

  @Test
  void forceOnTheWholeTakesAllMembers() throws Exception {
    Lease lease = lock.tryAcquire().orElseThrow();
    lease.onLost(told::add);
    assertTrue(sites.otherMulti().forceUnlock());
    assertEquals(Set.of(), sites.held());
    until("it is told", () -> !told.isEmpty());
    assertEquals(Reason.FORCED, told.get(0).reason());
    assertFalse(sites.otherMulti().forceUnlock(), "nobody holds it");
    assertOver();
  }
}
