package io.mortise.it.peers;

import static io.mortise.it.peers.RedissonPeers.PROMPT;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import io.mortise.it.support.TestThreads;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** A lock of Redisson's and one of ours with one name are one lock. */
@Timeout(60)
@Tag("redis-version")
class RedissonExclusionTest {
  private static final Duration SHORT_LEASE = Duration.ofMillis(1500);
  private static final Duration FEW_LEASES = SHORT_LEASE.multipliedBy(3);

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

  static Stream<String> names() {
    return Stream.of(Names.fresh(), Names.freshWithHashTag());
  }

  @ParameterizedTest
  @MethodSource("names")
  void theirHoldExcludesOursUntilItIsReleased(String name) throws Exception {
    RLock theirs = peers.redisson.getLock(name);
    DistributedLock ours = new RedisLock(peers.mortise, name);
    theirs.lock();
    assertFalse(ours.tryLock());
    assertFalse(ours.tryLock(Duration.ofMillis(50)));
    assertTrue(ours.isLocked());
    theirs.unlock();
    assertTrue(ours.tryLock());
    ours.unlock();
    assertFalse(theirs.isLocked());
  }

  @ParameterizedTest
  @MethodSource("names")
  void ourHoldExcludesTheirsUntilItIsReleased(String name) throws Exception {
    RLock theirs = peers.redisson.getLock(name);
    DistributedLock ours = new RedisLock(peers.mortise, name);
    ours.lock();
    assertFalse(theirs.tryLock());
    assertFalse(theirs.tryLock(50, MILLISECONDS));
    assertTrue(theirs.isLocked());
    ours.unlock();
    assertTrue(theirs.tryLock());
    theirs.unlock();
    assertFalse(ours.isLocked());
  }

  @Test
  void theirWatchdogKeepsOursOutForManyLeases() {
    String name = Names.fresh();
    RedissonClient redisson = peers.redisson(SHORT_LEASE);
    try {
      RLock theirs = redisson.getLock(name);
      DistributedLock ours = new RedisLock(peers.mortise, name);
      theirs.lock();
      await().during(FEW_LEASES).until(() -> !ours.tryLock());
      theirs.unlock();
      assertTrue(ours.tryLock());
      ours.unlock();
    } finally {
      redisson.shutdown();
    }
  }

  @Test
  void ourRenewalKeepsTheirsOutForManyLeases() {
    String name = Names.fresh();
    try (LockClient client = peers.mortise(SHORT_LEASE)) {
      RLock theirs = peers.redisson.getLock(name);
      DistributedLock ours = new RedisLock(client, name);
      ours.lock();
      await().during(FEW_LEASES).until(() -> !theirs.tryLock());
      ours.unlock();
      assertTrue(theirs.tryLock());
      theirs.unlock();
    }
  }

  @Test
  void weEnterWhenTheirLeaseHasRunOutAndNotBefore() {
    String name = Names.fresh();
    RLock theirs = peers.redisson.getLock(name);
    DistributedLock ours = new RedisLock(peers.mortise, name);
    theirs.lock(SHORT_LEASE.toMillis(), MILLISECONDS);
    long held = peers.pttl(name);
    long start = System.nanoTime();
    ours.lock();
    assertWaited(start, held);
    ours.unlock();
  }

  @Test
  void theyEnterWhenOurLeaseHasRunOutAndNotBefore() {
    String name = Names.fresh();
    RLock theirs = peers.redisson.getLock(name);
    assertTrue(new RedisLock(peers.mortise, name).tryAcquire(SHORT_LEASE).isPresent());
    long held = peers.pttl(name);
    long start = System.nanoTime();
    theirs.lock();
    assertWaited(start, held);
    theirs.unlock();
  }

  private static void assertWaited(long startNanos, long leastMillis) {
    long waited = (System.nanoTime() - startNanos) / 1_000_000;
    assertTrue(waited >= leastMillis - 2, () -> waited + " ms of " + leastMillis);
    assertTrue(waited <= leastMillis + PROMPT.toMillis(), () -> waited + " ms");
  }

  @Test
  void aReenteredLockOfTheirsExcludesOursUntilItsLastUnlock() throws Exception {
    String name = Names.fresh();
    RLock theirs = peers.redisson.getLock(name);
    DistributedLock ours = new RedisLock(peers.mortise, name);
    theirs.lock();
    theirs.lock();
    theirs.lock();
    assertEquals(List.of("3"), peers.server.command("HVALS", name));
    Future<Boolean> waiting = crew.ask(() -> ours.tryLock(10, SECONDS));
    peers.awaitListeners(name, 1);
    theirs.unlock();
    theirs.unlock();
    assertFalse(ours.tryLock());
    assertFalse(waiting.isDone());
    theirs.unlock();
    assertTrue(waiting.get(PROMPT.toMillis(), MILLISECONDS));
    crew.close();
  }

  @Test
  void ourReentryIsOneHoldForThem() {
    String name = Names.fresh();
    RLock theirs = peers.redisson.getLock(name);
    DistributedLock ours = new RedisLock(peers.mortise, name);
    ours.lock();
    ours.lock();
    ours.unlock();
    assertFalse(theirs.tryLock());
    ours.unlock();
    assertTrue(theirs.tryLock());
    theirs.unlock();
  }
}
