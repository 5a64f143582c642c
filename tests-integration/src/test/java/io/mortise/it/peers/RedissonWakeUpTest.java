package io.mortise.it.peers;

import static io.mortise.it.support.RedissonPeers.PROMPT;
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
import io.mortise.it.support.RedissonPeers;
import io.mortise.it.support.TestThreads;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;

/** A release of either kind wakes the waiters of the other, and so does a release by force. */
@Timeout(60)
@Tag("redis-version")
class RedissonWakeUpTest {
  @RegisterExtension static final RedissonPeers peers = new RedissonPeers();
  @AutoClose private final TestThreads threads = new TestThreads();

  static Stream<String> names() {
    return Stream.of(Names.fresh(), Names.freshWithHashTag());
  }

  @ParameterizedTest
  @MethodSource("names")
  void theirReleaseWakesOurWaiter(String name) throws Exception {
    RLock theirs = peers.redisson().getLock(name);
    theirs.lock();
    Future<?> ours = weWait(name);
    theirs.unlock();
    ours.get(PROMPT.toMillis(), MILLISECONDS);
  }

  @ParameterizedTest
  @MethodSource("names")
  void ourReleaseWakesTheirWaiter(String name) throws Exception {
    DistributedLock ours = new RedisLock(peers.here(), name);
    ours.lock();
    Future<?> theirs = theyWait(name);
    ours.unlock();
    theirs.get(PROMPT.toMillis(), MILLISECONDS);
  }

  @Test
  void weReleaseTheirsByForceAndTheWaitersOfBothAreServed() throws Exception {
    String name = Names.fresh();
    RLock theirs = peers.redisson().getLock(name);
    theirs.lock();
    Future<?> weWait = weWait(name);
    Future<?> theyWait = theyWait(name);
    assertTrue(new RedisLock(peers.here(), name).forceUnlock());
    weWait.get(PROMPT.toMillis(), MILLISECONDS);
    theyWait.get(PROMPT.toMillis(), MILLISECONDS);
    assertThrows(IllegalMonitorStateException.class, theirs::unlock);
  }

  @Test
  void theyReleaseOursByForceAndOurHolderGetsAnError() throws Exception {
    String name = Names.fresh();
    DistributedLock ours = new RedisLock(peers.here(), name);
    ours.lock();
    Future<?> theyWait = theyWait(name);
    assertTrue(peers.redisson().getLock(name).forceUnlock());
    theyWait.get(PROMPT.toMillis(), MILLISECONDS);
    LeaseLostException lost = assertThrows(LeaseLostException.class, ours::unlock);
    assertEquals(LeaseLoss.Reason.MISSING, lost.loss().reason(), "their force leaves no mark");
  }

  @Test
  void theTokensOfTheirFencedLockAndOfOursIncreaseTogether() throws Exception {
    String name = Names.fresh();
    RFencedLock theirs = peers.redisson().getFencedLock(name);
    DistributedLock ours = new RedisLock(peers.here(), name);
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
    return lockAndUnlock(name, new RedisLock(peers.here(), name));
  }

  private Future<?> theyWait(String name) {
    return lockAndUnlock(name, peers.redisson().getLock(name));
  }

  /** Starts a thread that waits for the lock, and awaits its subscription. */
  private Future<?> lockAndUnlock(String name, Lock lock) {
    long before = peers.subscribers(name);
    Future<?> waiting =
        threads.ask(
            () -> {
              lock.lock();
              lock.unlock();
              return true;
            });
    peers.awaitSubscribers(name, before + 1);
    return waiting;
  }
}
