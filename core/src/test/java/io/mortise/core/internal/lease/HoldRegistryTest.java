package io.mortise.core.internal.lease;

import static io.mortise.scripts.ScriptCall.bytes;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.FakeTicker;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import io.mortise.connection.topology.Topology;
import io.mortise.connection.topology.TopologyFactory;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** No hold is missed by a verification or by the closing, and no break of a connection is. */
@Timeout(60)
class HoldRegistryTest {
  private static final long FAR = Long.MAX_VALUE / 2;
  private static final Script INSPECT = Script.load("lock/inspect");
  private static final ScriptCall RELEASE =
      new ScriptCall(INSPECT, List.of(bytes("orders")), List.of());

  private final FakeTicker ticker = new FakeTicker();
  private final ClosingState closing = new ClosingState();
  private final RespServer server = new RespServer(command -> ":1\r\n");
  private final WorkerPool workers = new WorkerPool("test");
  private final Topology topology =
      TopologyFactory.create(server.uri(), TestSettings.DEFAULTS, workers);
  private final Scheduler scheduler =
      new Scheduler(
          ticker::read, () -> Long.MAX_VALUE, task -> WorkerPool.daemonThread(task, "scheduler"));
  private final HoldRegistry registry =
      new HoldRegistry(
          scheduler,
          new ScriptExecutor(topology, workers, TestSettings.DEFAULTS),
          new BackgroundTasks(workers, scheduler, closing, ticker),
          closing,
          ticker);

  /** Whether the holds have not ended. */
  private boolean live = true;

  /** The requests to the holds, by the names of the methods. */
  private final List<String> requests = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    scheduler.close();
    workers.close();
    topology.close();
    server.close();
  }

  /**
   * Returns a hold.
   *
   * @param duringRegistration runs when the hold is among those that a verification sees
   */
  private RegisteredHold hold(Runnable duringRegistration) {
    return (RegisteredHold)
        Proxy.newProxyInstance(
            RegisteredHold.class.getClassLoader(),
            new Class<?>[] {RegisteredHold.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "equals" -> proxy == arguments[0];
                  case "hashCode" -> System.identityHashCode(proxy);
                  case "mayRunAtNanos" -> FAR;
                  case "dueNanos" -> {
                    duringRegistration.run();
                    yield FAR;
                  }
                  case "releaseCall" -> RELEASE;
                  case "lockName", "toString" -> "orders";
                  case "lose" -> {
                    requests.add("lose");
                    yield live;
                  }
                  default -> {
                    requests.add(method.getName());
                    yield method.getReturnType() == boolean.class ? true : null;
                  }
                });
  }

  @Test
  void aHoldIsRegisteredInTheEpochOfItsRequest() {
    RegisteredHold hold = hold(() -> {});

    assertTrue(registry.register(hold, registry.epoch()));

    assertEquals(List.of(hold), registry.all());
  }

  @Test
  void aHoldOfAnEarlierEpochIsNotRegistered() {
    long sentEpoch = registry.epoch();
    registry.endEpoch();

    assertFalse(registry.register(hold(() -> {}), sentEpoch));

    assertEquals(List.of(), registry.all());
  }

  @Test
  void aHoldWhoseEpochEndsDuringItsRegistrationIsDiscarded() {
    assertFalse(registry.register(hold(registry::endEpoch), registry.epoch()));

    assertEquals(List.of(), registry.all());
    assertEquals(List.of("discard"), requests);
  }

  @Test
  void aHoldThatIsRegisteredWhileTheClientClosesIsLostAndReleased() {
    RegisteredHold hold = hold(closing::begin);

    LockException thrown =
        assertThrows(LockException.class, () -> registry.register(hold, registry.epoch()));

    assertEquals(Reason.CLIENT_CLOSED, thrown.reason());
    assertEquals(List.of("lose"), requests);
    assertEquals(List.of(), registry.all());
    assertEquals(
        List.of(new String(INSPECT.sha1(), UTF_8)),
        server.heard().stream().map(command -> command.get(1)).toList());
  }

  @Test
  void aHoldThatTheClosingThreadHasLostMeanwhileIsNotGranted() {
    live = false;
    RegisteredHold hold = hold(closing::begin);

    LockException thrown =
        assertThrows(LockException.class, () -> registry.register(hold, registry.epoch()));

    assertEquals(Reason.CLIENT_CLOSED, thrown.reason());
    assertEquals(List.of(), server.heard(), "the closing thread releases it");
  }

  private void awaitVerifications(int number) {
    await()
        .atMost(BackgroundCall.LIVENESS)
        .untilAsserted(
            () -> assertEquals(Collections.nCopies(number, "requestVerification"), requests));
  }

  @Test
  void aBreakIsVerifiedAtOnceAndOthersDuringThePauseOnceAtItsEnd() {
    assertTrue(registry.register(hold(() -> {}), registry.epoch()));
    ticker.advance(1);
    scheduler.start();

    registry.connectionBroke();
    awaitVerifications(1);
    long epoch = registry.epoch();
    registry.connectionBroke();
    registry.connectionBroke();

    assertEquals(epoch + 2, registry.epoch(), "no hold is handed off until then");
    awaitVerifications(1);
    ticker.advance(Duration.ofMillis(100).toNanos());
    awaitVerifications(2);
  }

  @Test
  void aBreakAfterThePauseIsVerifiedAtOnce() {
    assertTrue(registry.register(hold(() -> {}), registry.epoch()));
    ticker.advance(1);

    registry.connectionBroke();
    ticker.advance(Duration.ofMillis(101).toNanos());
    registry.connectionBroke();

    assertEquals(List.of("requestVerification", "requestVerification"), requests);
  }

  /** The command on the broken connection may be the unlock of a thread, which goes on. */
  @Test
  void aBreakDuringThePauseAfterTheCloseDoesNotFailTheCommandThatFoundIt() {
    ticker.advance(1);
    closing.begin();

    registry.connectionBroke();
    long epoch = registry.epoch();
    registry.connectionBroke();

    assertEquals(epoch + 1, registry.epoch());
  }
}
