package io.mortise.it.redlock;

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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Without a majority nobody gets the lock, nobody is told that it is held, and nothing is left. */
@Timeout(60)
class MajorityFailsTest {
  /** Much longer than a test takes: what goes away did not expire. */
  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofMinutes(1))
          .commandTimeout(Duration.ofMillis(400))
          .outageTimeout(Duration.ofMillis(300))
          .build();

  private static final Duration BUDGET = Duration.ofMillis(100);
  private static final Duration WAIT = Duration.ofMillis(300);

  private static FaultyNodes three;
  private static FaultyNodes five;

  @BeforeAll
  static void start() {
    three = FaultyNodes.start(3);
    five = FaultyNodes.start(5);
  }

  @AfterAll
  static void stop() {
    three.close();
    five.close();
  }

  @AfterEach
  void restore() {
    three.restore();
    five.restore();
  }

  static Stream<Arguments> faults() {
    return Arrays.stream(NodeFault.values())
        .filter(fault -> fault != NodeFault.RESTARTED_EMPTY && fault != NodeFault.SLOW)
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
  void eachCallSaysWhatEachNodeSaid(int count, NodeFault fault, List<Integer> majority)
      throws Exception {
    FaultyNodes nodes = count == 3 ? three : five;
    String wanted = Names.fresh();
    String awaited = Names.fresh();
    String held = Names.fresh();
    List<String> addresses = addresses(nodes, fault, majority);
    try (QuorumClients here = party(nodes, fault).warm();
        QuorumClients there = party(nodes, fault).warm()) {
      Lease theirs = there.takeEverywhere(awaited);
      Lease mine = here.takeEverywhere(held);
      AsyncCall<Boolean> waiter =
          AsyncCall.start(() -> here.lock(awaited).tryLock(Duration.ofSeconds(2)));
      Eventually.until("it waits", () -> nodes.subscribers(awaited) > 0);

      nodes.begin(fault, majority);
      List<AsyncCall<?>> callers =
          List.of(
              AsyncCall.start(() -> here.lock(wanted).tryLock()),
              AsyncCall.start(() -> here.lock(wanted + "w").tryLock(WAIT)),
              AsyncCall.start(
                  () -> here.lock(wanted + "a").acquireAsync(WAIT).toCompletableFuture().join()),
              waiter);
      for (AsyncCall<?> caller : callers) {
        assertTold(caller, addresses);
      }
      assertTrue(mine.isValid(), "what is held is held until its lease ends");
      LockException thrown = assertThrows(LockException.class, mine::close);
      assertTrue(thrown.getMessage().contains("could not be confirmed"), thrown::getMessage);
      addresses.forEach(address -> assertTrue(thrown.getMessage().contains(address)));
      nodes.end(fault, majority);

      there.warm(); // so that its release needs no new connections within its budget
      if (fault == NodeFault.KILLED) { // its servers came back without their data
        assertThrows(LeaseLostException.class, theirs::close);
      } else {
        theirs.close();
      }
      for (String name : List.of(wanted, wanted + "w", wanted + "a", awaited, held)) {
        nodes.awaitHolding(name, 0);
        there.pass(name);
      }
    }
  }

  private static QuorumClients party(FaultyNodes nodes, NodeFault fault) {
    return fault.isOfTheNetwork() ? nodes.party(OPTIONS, BUDGET) : nodes.direct(OPTIONS, BUDGET);
  }

  private static List<String> addresses(FaultyNodes nodes, NodeFault fault, List<Integer> places) {
    List<String> addresses = new ArrayList<>();
    for (int place : places) {
      int port = fault.isOfTheNetwork() ? nodes.proxy(place).port() : nodes.server(place).port();
      addresses.add("127.0.0.1:" + port);
    }
    return addresses;
  }

  private static void assertTold(AsyncCall<?> caller, List<String> addresses) {
    Exception thrown = assertThrows(Exception.class, caller::get);
    LockException told =
        (LockException) (thrown instanceof LockException ? thrown : thrown.getCause());
    assertEquals(Reason.UNREACHABLE, told.reason(), told::getMessage);
    for (String address : addresses) {
      assertTrue(told.getMessage().contains(address), told::getMessage);
    }
  }

  @Test
  void anUnboundedLockGivesUpAfterItsPatience() throws Exception {
    try (QuorumClients here = three.direct(OPTIONS, BUDGET).warm()) {
      three.begin(NodeFault.KILLED, List.of(0, 1));
      AsyncCall<Boolean> caller =
          AsyncCall.start(
              () -> {
                here.lock(Names.fresh()).lock();
                return true;
              });
      assertThrows(LockException.class, caller::get);
      three.end(NodeFault.KILLED, List.of(0, 1));
    }
  }

  @Test
  void whoWaitsWhileAMajorityIsAwayGetsTheLockAfterwards() throws Exception {
    String name = Names.fresh();
    LockOptions patient = LockOptions.builder().commandTimeout(Duration.ofMillis(400)).build();
    try (QuorumClients here = three.direct(patient, BUDGET).warm()) {
      three.begin(NodeFault.KILLED, List.of(1, 2));
      AsyncCall<Optional<Lease>> caller =
          AsyncCall.start(() -> here.lock(name).acquire(QuorumClients.LIVENESS));
      Eventually.holdsFor(Duration.ofMillis(700), "it waits", () -> !caller.isDone());
      three.end(NodeFault.KILLED, List.of(1, 2));
      Lease lease = caller.get().orElseThrow();
      assertTrue(lease.isValid());
      lease.close();
      three.awaitHolding(name, 0);
      assertFalse(here.lock(name).isLocked());
    }
  }
}
