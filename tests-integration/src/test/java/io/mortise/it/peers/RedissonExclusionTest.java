package io.mortise.it.peers;

import static io.mortise.it.support.RedissonPeers.PROMPT;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.LateAnswer;
import io.mortise.it.support.Names;
import io.mortise.it.support.RedissonPeers;
import io.mortise.it.support.TestThreads;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** A lock of Redisson and a lock of ours with one name are one lock. */
@Timeout(60)
@Tag("redis-version")
class RedissonExclusionTest {
  private static final Duration SHORT_LEASE = Duration.ofSeconds(3);
  private static final Duration SEVERAL_LEASES = SHORT_LEASE.multipliedBy(2);

  @RegisterExtension static final RedissonPeers peers = new RedissonPeers();
  @AutoClose private final TestThreads threads = new TestThreads();

  static Stream<String> names() {
    return Stream.of(Names.fresh(), Names.freshWithHashTag());
  }

  @ParameterizedTest
  @MethodSource("names")
  void aHoldOfEitherExcludesTheOtherUntilItIsReleased(String name) throws Exception {
    RLock theirs = peers.redisson().getLock(name);
    DistributedLock ours = new RedisLock(peers.here(), name);
    assertExcludes(theirs, ours, ours::isLocked);
    assertFalse(theirs.isLocked());
    assertExcludes(ours, theirs, theirs::isLocked);
    assertFalse(ours.isLocked());
  }

  private static void assertExcludes(Lock held, Lock other, BooleanSupplier otherIsLocked)
      throws Exception {
    held.lock();
    assertFalse(other.tryLock());
    assertFalse(LateAnswer.repeat(Duration.ofMillis(50), () -> other.tryLock(50, MILLISECONDS)));
    assertTrue(otherIsLocked.getAsBoolean());
    held.unlock();
    assertTrue(other.tryLock());
    other.unlock();
  }

  @Test
  void theirWatchdogExcludesOursForSeveralLeases() {
    String name = Names.fresh();
    RedissonClient redisson = peers.redisson(SHORT_LEASE);
    try {
      RLock theirs = redisson.getLock(name);
      DistributedLock ours = new RedisLock(peers.here(), name);
      theirs.lock();
      await().during(SEVERAL_LEASES).until(() -> !ours.tryLock());
      theirs.unlock();
      assertTrue(ours.tryLock());
      ours.unlock();
    } finally {
      redisson.shutdown();
    }
  }

  @Test
  void ourRenewalExcludesTheirsForSeveralLeases() {
    String name = Names.fresh();
    try (LockClient client = peers.client(SHORT_LEASE)) {
      RLock theirs = peers.redisson().getLock(name);
      DistributedLock ours = new RedisLock(client, name);
      ours.lock();
      await().during(SEVERAL_LEASES).until(() -> !theirs.tryLock());
      ours.unlock();
      assertTrue(theirs.tryLock());
      theirs.unlock();
    }
  }

  @Test
  void weEnterWhenTheirLeaseExpiresAndNotBefore() {
    String name = Names.fresh();
    RLock theirs = peers.redisson().getLock(name);
    DistributedLock ours = new RedisLock(peers.here(), name);
    theirs.lock(SHORT_LEASE.toMillis(), MILLISECONDS);
    long start = System.nanoTime(); // before the question: a late answer makes the wait longer
    long held = peers.pttl(name);
    ours.lock();
    assertWaited(start, held);
    ours.unlock();
  }

  @Test
  void theyEnterWhenOurLeaseExpiresAndNotBefore() {
    String name = Names.fresh();
    RLock theirs = peers.redisson().getLock(name);
    assertTrue(new RedisLock(peers.here(), name).withLease(SHORT_LEASE).tryAcquire().isPresent());
    long start = System.nanoTime(); // before the question: a late answer makes the wait longer
    long held = peers.pttl(name);
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
  void aReentrantHoldOfTheirsExcludesOursUntilItsLastUnlock() throws Exception {
    String name = Names.fresh();
    RLock theirs = peers.redisson().getLock(name);
    DistributedLock ours = new RedisLock(peers.here(), name);
    theirs.lock();
    theirs.lock();
    theirs.lock();
    assertEquals(List.of("3"), peers.server().command("HVALS", name));
    Future<Boolean> waiting = threads.ask(() -> ours.tryLock(10, SECONDS));
    peers.awaitSubscribers(name, 1);
    theirs.unlock();
    theirs.unlock();
    assertFalse(ours.tryLock());
    assertFalse(waiting.isDone());
    theirs.unlock();
    assertTrue(waiting.get(PROMPT.toMillis(), MILLISECONDS));
  }

  @Test
  void ourReentryIsOneHoldForThem() {
    String name = Names.fresh();
    RLock theirs = peers.redisson().getLock(name);
    DistributedLock ours = new RedisLock(peers.here(), name);
    ours.lock();
    ours.lock();
    ours.unlock();
    assertFalse(theirs.tryLock());
    ours.unlock();
    assertTrue(theirs.tryLock());
    theirs.unlock();
  }
}
