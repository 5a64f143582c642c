package io.mortise.it.multilock;

import static io.mortise.it.multilock.MemberServers.HOUR;
import static io.mortise.it.support.Eventually.LIVENESS;
import static io.mortise.it.support.ServerFault.CUT_OFF;
import static io.mortise.it.support.ServerFault.REFUSING;
import static io.mortise.it.support.SharedRedis.calling;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.EachOutage;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.ServerFault;
import io.mortise.multilock.MultiLock;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;

/** The second of three servers fails while the members are acquired. */
@Timeout(60)
class MemberFailsTest {
  private static final int FAILING = 1;

  @RegisterExtension static final MemberServers servers = new MemberServers(3);

  private static LockException assertFails(Executable call) {
    LockException thrown = assertThrows(LockException.class, call);
    assertEquals(Reason.UNREACHABLE, thrown.reason(), thrown::toString);
    assertTrue(thrown.toString().contains(servers.name(FAILING)), thrown::toString);
    assertNotNull(thrown.getCause());
    return thrown;
  }

  /** Nothing is held on the healthy servers, and soon nothing on the one that failed. */
  private static void assertNothingHeldThen() throws Exception {
    assertTrue(!servers.isHeld(0) && !servers.isHeld(2), "released before the error is thrown");
    servers.restore();
    servers.awaitHeld(Set.of());
    assertEquals(0, servers.multi().holdCount());
    assertTrue(servers.otherMulti().tryLock(LIVENESS), "another process acquires all");
    servers.otherMulti().unlock();
    servers.awaitIdle();
    assertEquals(Set.of(), servers.held());
  }

  @ParameterizedTest
  @EachOutage
  void oneAttemptReportsItAndLeavesNothingHeld(ServerFault fault) throws Exception {
    servers.begin(fault, FAILING);
    assertFails(() -> servers.multi().tryLock());
    assertFails(() -> servers.multi().tryAcquire());
    assertNothingHeldThen();
  }

  @ParameterizedTest
  @EachOutage
  void aWaitThatEndsDuringTheFaultReportsItAndLeavesNothingHeld(ServerFault fault)
      throws Exception {
    servers.begin(fault, FAILING);
    long start = System.nanoTime();
    assertFails(() -> servers.multi().tryLock(Duration.ofMillis(1500)));
    long millis = (System.nanoTime() - start) / 1_000_000;
    assertTrue(millis >= 1400 && millis < 10_000, () -> millis + " ms");
    assertNothingHeldThen();
  }

  @ParameterizedTest
  @EachOutage
  void aWaitContinuesUntilTheServerIsBack(ServerFault fault) throws Exception {
    servers.begin(fault, FAILING);
    AsyncCall<Set<Integer>> waiter =
        AsyncCall.start(
            () -> {
              assertTrue(servers.multi().tryLock(LIVENESS));
              Set<Integer> held = servers.held();
              servers.multi().unlock();
              return held;
            });
    servers.awaitFirstReleased();

    servers.restore();

    assertEquals(Set.of(0, 1, 2), waiter.get());
  }

  @Test
  void theOthersAreAvailableDuringTheWaitForOne() throws Exception {
    servers.begin(CUT_OFF, FAILING);
    AsyncCall<Boolean> waiter = AsyncCall.start(() -> servers.multi().acquire(HOUR).isPresent());
    servers.awaitFirstAcquired();
    for (int i = 0; i < 3; i++) {
      assertTrue(servers.other(0).tryLock(LIVENESS));
      servers.other(0).unlock();
    }
    waiter.interrupt();
    assertThrows(InterruptedException.class, waiter::get);
    assertNothingHeldThen();
  }

  @Test
  void anUnboundedWaitEndsWithTheShortestOutageTimeoutOfTheClients() throws Exception {
    LockOptions longTimeout = MemberServers.options().outageTimeout(HOUR).build();
    LockOptions shortTimeout = MemberServers.options().outageTimeout(Duration.ofSeconds(2)).build();
    LockClient first = servers.client(servers.server(0).uri(), longTimeout);
    LockClient second = servers.client(servers.proxy(FAILING).uri(), shortTimeout);
    MultiLock lock =
        new MultiLock(
            new RedisLock(first, servers.name(0)), new RedisLock(second, servers.name(FAILING)));
    servers.begin(REFUSING, FAILING);
    assertFails(lock::lock);
    assertNothingHeldThen();
  }

  @Test
  void aFailureToReleaseTheOthersIsSuppressedInIt() throws Exception {
    MultiLock lock = servers.multi();
    servers.proxy(0).loseReplies(2, LossStyle.SILENT, calling("lock/release"));
    servers.begin(REFUSING, FAILING);

    LockException thrown = assertFails(lock::tryLock);

    assertTrue(
        Arrays.stream(thrown.getSuppressed())
            .anyMatch(s -> s instanceof LockException && s.getMessage().contains(servers.name(0))),
        () -> Arrays.toString(thrown.getSuppressed()));
    Eventually.until("released in the background", () -> !servers.isHeld(0));
    assertNothingHeldThen();
  }
}
