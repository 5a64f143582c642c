package io.mortise.it.redlock;

import static io.mortise.it.support.Eventually.LIVENESS;
import static io.mortise.it.support.ServerFault.KILLED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.ServerFault;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Without a majority no call acquires the lock or finds it held, and nothing is left. */
@Timeout(60)
class MajorityFailsTest {
  /** Much longer than a test takes: what goes away did not expire. */
  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofMinutes(1))
          .commandTimeout(Duration.ofMillis(1_500))
          .outageTimeout(Duration.ofMillis(1_500))
          .build();

  private static final Duration BUDGET = Duration.ofMillis(100);
  private static final Duration WAIT = Duration.ofMillis(300);

  /** For the process that has to get its answers, also when the machine stands still. */
  private static final LockOptions PATIENT =
      LockOptions.builder()
          .lease(Duration.ofMinutes(1))
          .commandTimeout(Duration.ofSeconds(2))
          .build();

  private static final Duration PATIENT_BUDGET = Duration.ofSeconds(3);

  private static final Duration LONG_WAIT = Duration.ofSeconds(2);

  /** A wait in which the servers fail later may end before it has found out. */
  private static final Duration IN_TIME = Duration.ofMillis(700);

  @RegisterExtension static final FaultyNodes three = new FaultyNodes(3);
  @RegisterExtension static final FaultyNodes five = new FaultyNodes(5);

  static Stream<Arguments> faults() {
    return EnumSet.range(ServerFault.KILLED, ServerFault.BREAKING).stream()
        .flatMap(
            fault ->
                Stream.of(
                    Arguments.of(3, fault, List.of(0, 1)),
                    Arguments.of(3, fault, List.of(0, 2)),
                    Arguments.of(3, fault, List.of(1, 2)),
                    Arguments.of(3, fault, List.of(0, 1, 2)),
                    Arguments.of(5, fault, List.of(0, 2, 4))));
  }

  @ParameterizedTest(name = "{1} {2} of {0}")
  @MethodSource("faults")
  void eachCallNamesTheFailureOfEachNode(int count, ServerFault fault, List<Integer> majority)
      throws Exception {
    FaultyNodes nodes = count == 3 ? three : five;
    String wanted = Names.fresh();
    String awaited = Names.fresh();
    String held = Names.fresh();
    List<String> addresses = majority.stream().map(node -> nodes.address(fault, node)).toList();
    QuorumClients here = nodes.exposedTo(fault, OPTIONS, BUDGET);
    QuorumClients there = nodes.proxied(PATIENT, PATIENT_BUDGET);
    Lease theirs = there.acquireEverywhere(awaited);
    Lease mine = here.acquireEverywhere(held);
    long waitingSince = System.nanoTime();
    AsyncCall<Boolean> waiter = AsyncCall.start(() -> here.lock(awaited).tryLock(LONG_WAIT));
    Eventually.until("a thread waits", () -> nodes.subscribers(awaited) > 0);

    nodes.begin(fault, majority);
    boolean inTime = System.nanoTime() - waitingSince < IN_TIME.toNanos();
    List<AsyncCall<?>> callers =
        List.of(
            AsyncCall.start(() -> here.lock(wanted).tryLock()),
            AsyncCall.start(() -> here.lock(wanted + "w").tryLock(WAIT)),
            AsyncCall.start(
                () -> here.lock(wanted + "a").acquireAsync(WAIT).toCompletableFuture().join()));
    for (AsyncCall<?> caller : callers) {
      assertUnreachable(caller, addresses);
    }
    if (inTime || !hasEndedWithoutTheLock(waiter)) {
      assertUnreachable(waiter, addresses);
    }
    assertTrue(mine.isValid(), "a hold remains until its lease ends");
    LockException thrown = assertThrows(LockException.class, mine::close);
    assertTrue(thrown.getMessage().contains("could not be confirmed"), thrown::getMessage);
    addresses.forEach(address -> assertTrue(thrown.getMessage().contains(address)));
    if (fault == ServerFault.KILLED) {
      comeBackWithAnotherHolder(nodes, majority, awaited);
    }
    nodes.restore(majority);

    there.warm(); // so that its release needs no new connections within its budget
    if (fault == ServerFault.KILLED) {
      assertThrows(LeaseLostException.class, theirs::close);
      majority.forEach(node -> nodes.releaseAsStranger(awaited, node));
    } else {
      theirs.close();
    }
    for (String name : List.of(wanted, wanted + "w", wanted + "a", awaited, held)) {
      nodes.awaitHolding(name, 0);
      there.cycle(name);
    }
  }

  /**
   * The servers come back without their data. Somebody else has the lock there before the clients
   * that come through the proxies see it, so that these do not take it again in the meantime.
   */
  private static void comeBackWithAnotherHolder(
      FaultyNodes nodes, List<Integer> majority, String lock) {
    for (int node : majority) {
      nodes.proxy(node).cut();
      nodes.server(node).restart();
      nodes.holdAsStranger(lock, node);
    }
  }

  private static boolean hasEndedWithoutTheLock(AsyncCall<Boolean> waiter) throws Exception {
    try {
      return !waiter.get();
    } catch (LockException unreachable) {
      return false;
    }
  }

  private static void assertUnreachable(AsyncCall<?> caller, List<String> addresses) {
    Exception thrown = assertThrows(Exception.class, caller::get);
    LockException unreachable =
        (LockException) (thrown instanceof LockException ? thrown : thrown.getCause());
    assertEquals(Reason.UNREACHABLE, unreachable.reason(), unreachable::getMessage);
    for (String address : addresses) {
      assertTrue(unreachable.getMessage().contains(address), unreachable::getMessage);
    }
  }

  @Test
  void anUnboundedLockFailsAfterItsOutageTimeout() throws Exception {
    QuorumClients here = three.direct(OPTIONS, BUDGET);
    three.begin(KILLED, 0, 1);
    AsyncCall<Boolean> caller =
        AsyncCall.start(
            () -> {
              here.lock(Names.fresh()).lock();
              return true;
            });
    assertThrows(LockException.class, caller::get);
  }

  @Test
  void aWaiterAcquiresTheLockWhenTheMajorityIsBack() throws Exception {
    String name = Names.fresh();
    // A dead server refuses at once, so that nobody waits for these times.
    QuorumClients here = three.direct(PATIENT, PATIENT_BUDGET);
    three.begin(KILLED, 1, 2);
    AsyncCall<Optional<Lease>> caller = AsyncCall.start(() -> here.lock(name).acquire(LIVENESS));
    Eventually.holdsFor(Duration.ofMillis(700), "it waits", () -> !caller.isDone());
    three.restore(1, 2);
    Lease lease = caller.get().orElseThrow();
    assertTrue(lease.isValid());
    lease.close();
    assertFalse(here.lock(name).isLocked());
  }
}
