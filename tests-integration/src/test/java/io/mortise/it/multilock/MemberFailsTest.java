package io.mortise.it.multilock;

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
import io.mortise.it.support.Eventually;
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
import org.junit.jupiter.params.provider.EnumSource;

/** Pitfall 22: the second of three servers fails while the members are taken. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class MemberFailsTest {
  private static final int FAILING = 1;

  @RegisterExtension static final MemberServers sites = new MemberServers(3);

  private static LockException assertFails(Executable call) {
    LockException thrown = assertThrows(LockException.class, call);
    assertEquals(Reason.UNREACHABLE, thrown.reason(), thrown::toString);
    assertTrue(thrown.toString().contains(sites.name(FAILING)), thrown::toString);
    assertNotNull(thrown.getCause());
    return thrown;
  }

  /** Of the servers that answer none holds anything, and the one that failed does not for long. */
  private static void assertNothingHeldThen() throws Exception {
    assertTrue(!sites.isHeld(0) && !sites.isHeld(2), "given back before the error is thrown");
    sites.restore();
    sites.awaitHeld(Set.of());
    assertEquals(0, sites.multi().holdCount());
    assertTrue(sites.otherMulti().tryLock(MemberServers.LIVENESS), "others can have all");
    sites.otherMulti().unlock();
    sites.awaitIdle();
    assertEquals(Set.of(), sites.held());
  }

  @ParameterizedTest
  @EnumSource
  void oneAttemptTellsItAndLeavesNothingHeld(MemberFault fault) throws Exception {
    fault.begin(sites, FAILING);
    assertFails(() -> sites.multi().tryLock());
    assertFails(() -> sites.multi().tryAcquire());
    assertNothingHeldThen();
  }

  @ParameterizedTest
  @EnumSource
  void aWaitThatEndsWhileItFailsTellsItAndLeavesNothingHeld(MemberFault fault) throws Exception {
    fault.begin(sites, FAILING);
    long start = System.nanoTime();
    assertFails(() -> sites.multi().tryLock(Duration.ofMillis(1500)));
    long millis = (System.nanoTime() - start) / 1_000_000;
    assertTrue(millis >= 1400 && millis < 10_000, () -> millis + " ms");
    assertNothingHeldThen();
  }

  @ParameterizedTest
  @EnumSource
  void aWaitGoesOnUntilItIsBack(MemberFault fault) throws Exception {
    fault.begin(sites, FAILING);
    AsyncCall<Set<Integer>> waiter =
        AsyncCall.start(
            () -> {
              assertTrue(sites.multi().tryLock(MemberServers.LIVENESS));
              Set<Integer> held = sites.held();
              sites.multi().unlock();
              return held;
            });
    sites.awaitFirstGivenBack();

    sites.restore();

    assertEquals(Set.of(0, 1, 2), waiter.get());
    sites.awaitHeld(Set.of());
    sites.awaitIdle();
  }

  @Test
  void theOthersCanBeHadWhileOneIsWaitedFor() throws Exception {
    MemberFault.CUT_OFF.begin(sites, FAILING);
    AsyncCall<Boolean> waiter =
        AsyncCall.start(() -> sites.multi().acquire(MemberServers.HOUR).isPresent());
    sites.awaitFirstTaken();
    for (int i = 0; i < 3; i++) {
      assertTrue(sites.other(0).tryLock(MemberServers.LIVENESS));
      sites.other(0).unlock();
    }
    waiter.interrupt();
    assertThrows(InterruptedException.class, waiter::get);
    assertNothingHeldThen();
  }

  @Test
  void aWaitWithoutAnEndHasThePatienceOfTheLeastPatientClient() throws Exception {
    LockOptions patient = MemberServers.options().outageTimeout(MemberServers.HOUR).build();
    LockOptions impatient = MemberServers.options().outageTimeout(Duration.ofSeconds(2)).build();
    try (LockClient first = LockClient.create(sites.server(0).uri(), patient);
        LockClient second = LockClient.create(sites.proxy(FAILING).uri(), impatient)) {
      MultiLock lock =
          new MultiLock(
              new RedisLock(first, sites.name(0)), new RedisLock(second, sites.name(FAILING)));
      MemberFault.REFUSING.begin(sites, FAILING);
      assertFails(lock::lock);
    }
    assertNothingHeldThen();
  }

  @Test
  void whatGoesWrongWhileTheOthersAreGivenBackIsSuppressedInIt() throws Exception {
    MultiLock lock = sites.multi();
    sites.proxy(0).loseReplies(2, LossStyle.SILENT, MemberServers.calling("lock/release"));
    MemberFault.REFUSING.begin(sites, FAILING);

    LockException thrown = assertFails(lock::tryLock);

    assertTrue(
        Arrays.stream(thrown.getSuppressed())
            .anyMatch(s -> s instanceof LockException && s.getMessage().contains(sites.name(0))),
        () -> Arrays.toString(thrown.getSuppressed()));
    Eventually.until("released in the background", () -> !sites.isHeld(0));
    assertNothingHeldThen();
  }
}
