package io.mortise.it.redlock;

import static io.mortise.it.support.Eventually.LIVENESS;
import static io.mortise.it.support.ServerFault.PAUSED;
import static io.mortise.it.support.SharedRedis.calling;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockOptions;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.redlock.RedLock;
import io.mortise.redlock.RedLockTypes;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An interrupt ends the wait at once, even while nodes hang, and leaves nothing held. */
@Timeout(60)
class QuorumInterruptTest {
  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(3);

  /** A thread that waits for one of these has missed the interrupt. */
  private static final Duration LONG = Duration.ofSeconds(12);

  private static final Duration AT_ONCE = Duration.ofSeconds(4);

  private static final LockOptions OPTIONS =
      LockOptions.builder().lease(Duration.ofMinutes(2)).commandTimeout(LONG).build();

  private final String name = Names.fresh();
  private QuorumClients here = nodes.proxied(OPTIONS, LONG);
  private final QuorumClients there = nodes.direct(OPTIONS, LONG);

  private AsyncCall<Boolean> locking() {
    RedLock lock = here.lock(name);
    return AsyncCall.start(
        () -> {
          lock.lockInterruptibly();
          return true;
        });
  }

  private void assertInterruptedAtOnce(AsyncCall<?> caller) throws Exception {
    assertFalse(caller.isDone());
    caller.interrupt();
    InterruptedException thrown =
        assertTimeout(AT_ONCE, () -> assertThrows(InterruptedException.class, caller::get));
    assertEquals("interrupted while waiting for lock '" + name + "'", thrown.getMessage());
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
    nodes.begin(PAUSED, 1, 2);
    AsyncCall<Boolean> caller = locking();
    Eventually.until("one has granted", () -> here.client(0).status().holds() == 1);
    assertInterruptedAtOnce(caller);
    nodes.restore(1, 2);
    nodes.awaitHolding(name, 0);
    here.cycle(name);
  }

  @Test
  void whileAllHang() throws Exception {
    nodes.begin(PAUSED, 0, 1, 2);
    AsyncCall<Boolean> caller = locking();
    caller.awaitIn(RedLockTypes.FAN_OUT);
    assertInterruptedAtOnce(caller);
    nodes.restore(0, 1, 2);
    nodes.awaitHolding(name, 0);
    here.cycle(name);
  }

  @Test
  void whileItWaitsAtANodeThatHangs() throws Exception {
    Lease theirs = there.acquireEverywhere(name);
    AsyncCall<Boolean> caller = locking();
    int node = nodes.awaitWaiter(name);
    nodes.begin(PAUSED, node);
    assertInterruptedAtOnce(caller);
    nodes.restore(node);
    theirs.close();
  }

  /** An attempt is not aborted, but it takes no longer than the wait there: two budgets. */
  @Test
  void whileTheNodeAtWhichItWaitsDoesNotAnswerItsAttempt() throws Exception {
    here.close();
    here = nodes.proxied(OPTIONS, Duration.ofMillis(1200));
    Lease theirs = there.acquireEverywhere(name);
    AsyncCall<Boolean> caller = locking();
    int node = nodes.awaitWaiter(name);
    nodes.proxy(node).loseNextReply(LossStyle.SILENT, calling("lock/acquire"));
    theirs.close();
    Eventually.until("its attempt is lost", () -> nodes.proxy(node).repliesLost() == 1);
    assertInterruptedAtOnce(caller);
  }

  @Test
  void whileItRequestsTheOthersAfterTheWait() throws Exception {
    nodes.holdAsStranger(name, 0, 1, 2);
    AsyncCall<Boolean> caller = locking();
    int node = nodes.awaitWaiter(name);
    nodes.releaseAsStranger(name, node);
    Eventually.until("the first has granted", () -> here.client(node).status().holds() == 1);
    Eventually.until("the thread waits at the others", () -> nodes.subscribers(name) == 3);
    assertInterruptedAtOnce(caller);
    nodes.awaitHolding(name, 2);
    for (int other : nodes.holding(name)) {
      nodes.releaseAsStranger(name, other);
    }
    here.cycle(name);
  }

  @Test
  void anUninterruptibleLockKeepsTheInterrupt() throws Exception {
    nodes.begin(PAUSED, 1, 2);
    AsyncCall<Boolean> caller =
        AsyncCall.start(
            () -> {
              RedLock lock = here.lock(name);
              lock.lock();
              boolean kept = Thread.interrupted();
              lock.unlock();
              return kept;
            });
    Eventually.until("one has granted", () -> here.client(0).status().holds() == 1);
    caller.interrupt();
    nodes.restore(1, 2);
    assertTrue(caller.get());
  }

  @Test
  void anAcquisitionThatIsCancelledWhileNodesHang() throws Exception {
    nodes.begin(PAUSED, 1, 2);
    CompletableFuture<Optional<Lease>> stage =
        here.lock(name).acquireAsync(LIVENESS).toCompletableFuture();
    Eventually.until("one has granted", () -> here.client(0).status().holds() == 1);
    assertTrue(stage.cancel(true));
    Eventually.until("the first is released", () -> here.client(0).status().holds() == 0);
    nodes.restore(1, 2);
    nodes.awaitHolding(name, 0);
    here.cycle(name);
  }

  @Test
  void anAcquisitionThatIsCancelledWhileItWaits() throws Exception {
    Lease theirs = there.acquireEverywhere(name);
    CompletableFuture<Optional<Lease>> stage =
        here.lock(name).acquireAsync(LIVENESS).toCompletableFuture();
    Eventually.until("a thread waits", () -> nodes.subscribers(name) == 1);
    assertTrue(stage.cancel(true));
    Eventually.until("no thread waits", () -> here.client(0).status().contended() == 0);
    theirs.close();
    nodes.awaitHolding(name, 0);
    here.cycle(name);
  }
}
