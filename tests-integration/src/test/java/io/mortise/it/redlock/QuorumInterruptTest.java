package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockOptions;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.redlock.RedLock;
import io.mortise.redlock.RedLockTypes;
import io.mortise.scripts.Script;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Pitfall 23: an interrupt arrives at once, also while nodes hang, and leaves nothing held. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class QuorumInterruptTest {
  /** Whoever waits for any of these is not woken by an interrupt. */
  private static final Duration LONG = Duration.ofSeconds(12);

  private static final long AT_ONCE_MILLIS = 4_000;

  private static final LockOptions OPTIONS =
      LockOptions.builder().lease(Duration.ofMinutes(2)).commandTimeout(LONG).build();

  private static FaultyNodes nodes;

  private final String name = Names.fresh();
  private QuorumClients here;
  private QuorumClients there;

  @BeforeAll
  static void startNodes() {
    nodes = FaultyNodes.start(3);
  }

  @AfterAll
  static void stopNodes() {
    nodes.close();
  }

  @BeforeEach
  void connect() throws Exception {
    here = nodes.party(OPTIONS, LONG).warm();
    there = nodes.direct(OPTIONS, LONG).warm();
  }

  @AfterEach
  void restore() {
    nodes.restore();
    here.close();
    there.close();
  }

  private static Predicate<byte[]> calling(String script) {
    return FaultProxy.containing(new String(Script.load(script).sha1(), StandardCharsets.US_ASCII));
  }

  private AsyncCall<Boolean> locking() {
    RedLock lock = here.lock(name);
    return AsyncCall.start(
        () -> {
          lock.lockInterruptibly();
          return true;
        });
  }

  private static void assertInterruptedAtOnce(AsyncCall<?> caller) throws Exception {
    assertFalse(caller.isDone());
    long start = System.nanoTime();
    caller.interrupt();
    assertThrows(InterruptedException.class, caller::get);
    long millis = (System.nanoTime() - start) / 1_000_000;
    assertTrue(millis < AT_ONCE_MILLIS, () -> "it took " + millis + " ms");
  }

  @Test
  void beforeTheAcquisition() throws Exception {
    AsyncCall<Boolean> caller =
        AsyncCall.start(
            () -> {
              Thread.currentThread().interrupt();
              here.lock(name).lockInterruptibly();
              return true;
            });
    assertThrows(InterruptedException.class, caller::get);
    assertEquals(0, nodes.holding(name).size());
    here.awaitIdle();
  }

  @Test
  void whileAMajorityHangs() throws Exception {
    nodes.begin(NodeFault.PAUSED, List.of(1, 2));
    AsyncCall<Boolean> caller = locking();
    Eventually.until("one has granted", () -> here.clients().get(0).status().holds() == 1);
    assertInterruptedAtOnce(caller);
    nodes.end(NodeFault.PAUSED, List.of(1, 2));
    nodes.awaitHolding(name, 0);
    here.pass(name);
  }

  @Test
  void whileAllHang() throws Exception {
    nodes.begin(NodeFault.PAUSED, List.of(0, 1, 2));
    AsyncCall<Boolean> caller = locking();
    caller.awaitIn(RedLockTypes.POLL);
    assertInterruptedAtOnce(caller);
    nodes.end(NodeFault.PAUSED, List.of(0, 1, 2));
    nodes.awaitHolding(name, 0);
    here.pass(name);
  }

  @Test
  void whileItWaitsAtANodeThatHangs() throws Exception {
    Lease theirs = there.takeEverywhere(name);
    AsyncCall<Boolean> caller = locking();
    int place = nodes.awaitWaiter(name);
    nodes.begin(NodeFault.PAUSED, List.of(place));
    assertInterruptedAtOnce(caller);
    nodes.end(NodeFault.PAUSED, List.of(place));
    theirs.close();
    nodes.awaitHolding(name, 0);
  }

  /** An attempt is not broken off, but it takes no longer than the wait there: two budgets. */
  @Test
  void whileTheNodeAtWhichItWaitsDoesNotAnswerItsAttempt() throws Exception {
    here.close();
    here = nodes.party(OPTIONS, Duration.ofMillis(700)).warm();
    Lease theirs = there.takeEverywhere(name);
    AsyncCall<Boolean> caller = locking();
    int place = nodes.awaitWaiter(name);
    nodes.proxy(place).loseNextReply(LossStyle.SILENT, calling("lock/acquire"));
    theirs.close();
    Eventually.until("its attempt is lost", () -> nodes.proxy(place).repliesLost() == 1);
    assertInterruptedAtOnce(caller);
    nodes.awaitHolding(name, 0);
  }

  @Test
  void whileTheOthersAreAskedAfterTheWait() throws Exception {
    for (int i = 0; i < 3; i++) {
      nodes.holdAsStranger(name, i);
    }
    AsyncCall<Boolean> caller = locking();
    int place = nodes.awaitWaiter(name);
    nodes.releaseAsStranger(name, place);
    Eventually.until("it has the first", () -> here.clients().get(place).status().holds() == 1);
    Eventually.until("it waits at the others", () -> nodes.subscribers(name) == 3);
    assertInterruptedAtOnce(caller);
    nodes.awaitHolding(name, 2);
    for (int other : nodes.holding(name)) {
      nodes.releaseAsStranger(name, other);
    }
    here.pass(name);
  }

  @Test
  void anUninterruptibleLockKeepsTheInterrupt() throws Exception {
    nodes.begin(NodeFault.PAUSED, List.of(1, 2));
    AsyncCall<Boolean> caller =
        AsyncCall.start(
            () -> {
              RedLock lock = here.lock(name);
              lock.lock();
              boolean kept = Thread.interrupted();
              lock.unlock();
              return kept;
            });
    Eventually.until("one has granted", () -> here.clients().get(0).status().holds() == 1);
    caller.interrupt();
    nodes.end(NodeFault.PAUSED, List.of(1, 2));
    assertTrue(caller.get());
    nodes.awaitHolding(name, 0);
  }

  @Test
  void anAcquisitionThatIsCancelledWhileNodesHang() throws Exception {
    nodes.begin(NodeFault.PAUSED, List.of(1, 2));
    CompletableFuture<Optional<Lease>> stage =
        here.lock(name).acquireAsync(QuorumClients.LIVENESS).toCompletableFuture();
    Eventually.until("one has granted", () -> here.clients().get(0).status().holds() == 1);
    assertTrue(stage.cancel(true));
    Eventually.until("the first is given back", () -> here.clients().get(0).status().holds() == 0);
    nodes.end(NodeFault.PAUSED, List.of(1, 2));
    nodes.awaitHolding(name, 0);
    here.pass(name);
  }

  @Test
  void anAcquisitionThatIsCancelledWhileItWaits() throws Exception {
    Lease theirs = there.takeEverywhere(name);
    CompletableFuture<Optional<Lease>> stage =
        here.lock(name).acquireAsync(QuorumClients.LIVENESS).toCompletableFuture();
    Eventually.until("it waits", () -> nodes.subscribers(name) == 1);
    assertTrue(stage.cancel(true));
    Eventually.until("nobody waits", () -> here.clients().get(0).status().contended() == 0);
    theirs.close();
    nodes.awaitHolding(name, 0);
    here.pass(name);
  }
}
