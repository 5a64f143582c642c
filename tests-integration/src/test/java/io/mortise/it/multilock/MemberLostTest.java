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
import io.mortise.it.support.ServerFault;
import io.mortise.multilock.MultiLock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The loss of one member is the loss of all: notified once, with the reason. */
@Timeout(60)
class MemberLostTest {
  private static final int LOST = 1;

  /** A server restarts well before the end of the lease. */
  @RegisterExtension
  static final MemberServers servers =
      new MemberServers(3, Duration.ofSeconds(2), Duration.ofSeconds(4));

  /** How a member is lost. */
  @SuppressWarnings("ImmutableEnumChecker") // the functions have no state
  enum Loss {
    BY_FORCE(Reason.FORCED, () -> assertTrue(servers.other(LOST).forceUnlock())),
    BY_FORCE_OF_THE_PROCESS_ITSELF(
        Reason.FORCED, () -> assertTrue(servers.lock(LOST).forceUnlock())),
    KEY_DELETED(Reason.MISSING, () -> servers.server(LOST).command("DEL", servers.name(LOST))),
    ALL_FLUSHED(Reason.MISSING, () -> servers.server(LOST).command("FLUSHALL")),
    RESTARTED_EMPTY(Reason.MISSING, () -> servers.begin(ServerFault.RESTARTED_EMPTY, LOST)),
    CUT_OFF_FOR_TOO_LONG(Reason.EXPIRED, () -> servers.begin(ServerFault.CUT_OFF, LOST)),
    CLIENT_CLOSED(Reason.CLIENT_CLOSED, () -> servers.here(LOST).close());

    private final Reason reason;
    private final Runnable cause;

    Loss(Reason reason, Runnable cause) {
      this.reason = reason;
      this.cause = cause;
    }

    void happen() {
      cause.run();
    }
  }

  private final MultiLock lock = servers.multi();
  private final List<LeaseLoss> losses = new CopyOnWriteArrayList<>();

  private void assertNotified(Loss loss, Lease lease) {
    until("the loss is notified", () -> !losses.isEmpty());
    LeaseLoss first = losses.get(0);
    assertEquals(loss.reason, first.reason(), first::toString);
    assertEquals(lock.name(), first.lockName());
    assertEquals(lease.fencingToken(), first.fencingToken());
    assertTrue(first.detail().contains(servers.name(LOST)), first::detail);
    assertFalse(first.detail().contains(servers.name(0)), first::detail);
    assertEquals(Lease.State.LOST, lease.state());
    assertEquals(first, lease.loss().orElseThrow());
    assertEquals(Duration.ZERO, lease.remaining());
  }

  private static void assertThrown(Loss loss, Executable call) {
    LeaseLostException thrown = assertThrows(LeaseLostException.class, call);
    assertEquals(loss.reason, thrown.loss().reason(), thrown::toString);
  }

  private void assertEndsOnce() {
    servers.restore();
    servers.awaitHeld(Set.of());
    servers.awaitIdle();
    assertEquals(1, losses.size(), "notified once");
  }

  @ParameterizedTest
  @EnumSource
  void aHandleReleasesTheOthersAtOnce(Loss loss) {
    Lease lease = lock.tryAcquire().orElseThrow();
    lease.onLost(losses::add);

    loss.happen();

    assertNotified(loss, lease);
    until("the others are free", () -> !servers.isHeld(0) && !servers.isHeld(2));
    assertThrown(loss, lease::ensureValid);
    assertThrown(loss, lease::close);
    lease.close();
    assertEndsOnce();
  }

  @ParameterizedTest
  @EnumSource
  void aThreadThatDoesNotKnowOfItKeepsTheOthersUntilItUnlocks(Loss loss) {
    lock.lock();
    Lease lease = lock.lease();
    lease.onLost(losses::add);

    loss.happen();

    assertNotified(loss, lease);
    holdsFor(
        Duration.ofMillis(500),
        "the thread keeps them",
        () -> servers.isHeld(0) && servers.isHeld(2));
    assertTrue(servers.lock(0).isHeldByCurrentThread());
    assertFalse(servers.lock(LOST).isHeldByCurrentThread());
    assertFalse(servers.other(0).tryLock());
    assertThrown(loss, lock::unlock);
    assertFalse(servers.isHeld(0), "released by unlock");
    assertFalse(servers.isHeld(2), "released by unlock");
    for (int i = 0; i < 3; i++) {
      assertThrows(IllegalMonitorStateException.class, servers.lock(i)::unlock);
    }
    assertEndsOnce();
  }

  @Test
  void unlockReportsALossThatWasNotNoticedBefore() throws Exception {
    lock.lock();
    servers.server(LOST).command("DEL", servers.name(LOST));
    assertThrown(Loss.KEY_DELETED, lock::unlock);
    assertEquals(Set.of(), servers.held());
    assertTrue(servers.otherMulti().tryLock());
    servers.otherMulti().unlock();
  }

  @Test
  void theNextHolderOfTheMemberIsNotReleased() throws Exception {
    lock.lock();
    assertTrue(servers.other(LOST).forceUnlock());
    assertTrue(servers.other(LOST).tryLock());
    assertThrown(Loss.BY_FORCE, lock::unlock);
    assertEquals(Set.of(LOST), servers.held());
    servers.other(LOST).lease().ensureValid();
    servers.other(LOST).unlock();
  }

  @Test
  void forceUnlockReleasesAllMembers() throws Exception {
    Lease lease = lock.tryAcquire().orElseThrow();
    lease.onLost(losses::add);
    assertTrue(servers.otherMulti().forceUnlock());
    assertEquals(Set.of(), servers.held());
    until("the loss is notified", () -> !losses.isEmpty());
    assertEquals(Reason.FORCED, losses.get(0).reason());
    assertFalse(servers.otherMulti().forceUnlock(), "it is not held");
    assertEndsOnce();
  }
}
