package io.mortise.it.peers;

import static io.mortise.it.peers.RedissonPeers.PROMPT;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLostException;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import io.mortise.it.support.TestThreads;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;

/** A release of either kind wakes the waiters of the other, and so does a release by force. */
@Timeout(60)
@Tag("redis-version")
class RedissonWakeUpTest {
  private static RedissonPeers peers;
  private final TestThreads crew = new TestThreads();

  @BeforeAll
  static void start() {
    peers = new RedissonPeers();
  }

  @AfterAll
  static void stop() {
    peers.close();
  }

  @AfterEach
  void dismiss() {
    crew.close();
  }

  static Stream<String> names() {
    return Stream.of(Names.fresh(), Names.freshWithHashTag());
  }

  @ParameterizedTest
  @MethodSource("names")
  void theirReleaseWakesOurWaiter(String name) throws Exception {
    RLock theirs = peers.redisson.getLock(name);
    theirs.lock();
    Future<?> ours = weWait(name);
    theirs.unlock();
    ours.get(PROMPT.toMillis(), MILLISECONDS);
  }

  @ParameterizedTest
  @MethodSource("names")
  void ourReleaseWakesTheirWaiter(String name) throws Exception {
    DistributedLock ours = new RedisLock(peers.mortise, name);
    ours.lock();
    Future<?> theirs = theyWait(name);
    ours.unlock();
    theirs.get(PROMPT.toMillis(), MILLISECONDS);
  }

  @Test
  void weTakeTheirsByForceAndTheWaitersOfBothAreServed() throws Exception {
    String name = Names.fresh();
    RLock theirs = peers.redisson.getLock(name);
    theirs.lock();
    Future<?> weWait = weWait(name);
    Future<?> theyWait = theyWait(name);
    assertTrue(new RedisLock(peers.mortise, name).forceUnlock());
    weWait.get(PROMPT.toMillis(), MILLISECONDS);
    theyWait.get(PROMPT.toMillis(), MILLISECONDS);
    assertThrows(IllegalMonitorStateException.class, theirs::unlock);
  }

  @Test
  void theyTakeOursByForceAndOurHolderIsTold() throws Exception {
    String name = Names.fresh();
    DistributedLock ours = new RedisLock(peers.mortise, name);
    ours.lock();
    Future<?> theyWait = theyWait(name);
    assertTrue(peers.redisson.getLock(name).forceUnlock());
    theyWait.get(PROMPT.toMillis(), MILLISECONDS);
    LeaseLostException lost = assertThrows(LeaseLostException.class, ours::unlock);
    assertEquals(LeaseLoss.Reason.MISSING, lost.loss().reason(), "their force leaves no mark");
  }

  @Test
  void tokensOfTheirFencedLockAndOursRiseTogether() throws Exception {
    String name = Names.fresh();
    RFencedLock theirs = peers.redisson.getFencedLock(name);
    DistributedLock ours = new RedisLock(peers.mortise, name);
    long last = theirs.lockAndGetToken();
    assertFalse(ours.tryLock());
    theirs.unlock();
    for (int i = 0; i < 20; i++) {
      try (Lease lease = ours.acquire(Duration.ZERO).orElseThrow()) {
        assertTrue(lease.fencingToken() > last, lease::toString);
        last = lease.fencingToken();
        assertFalse(theirs.tryLock());
      }
      long token = theirs.lockAndGetToken();
      assertTrue(token > last, () -> "" + token);
      last = token;
      theirs.unlock();
    }
  }

  private Future<?> weWait(String name) {
    DistributedLock ours = new RedisLock(peers.mortise, name);
    long before = peers.listeners(name);
    Future<?> waiting =
        crew.ask(
            () -> {
              ours.lock();
              ours.unlock();
              return true;
            });
    peers.awaitListeners(name, before + 1);
    return waiting;
  }

  private Future<?> theyWait(String name) {
    RLock theirs = peers.redisson.getLock(name);
    long before = peers.listeners(name);
    Future<?> waiting =
        crew.ask(
            () -> {
              theirs.lock();
              theirs.unlock();
              return true;
            });
    peers.awaitListeners(name, before + 1);
    return waiting;
  }
}
