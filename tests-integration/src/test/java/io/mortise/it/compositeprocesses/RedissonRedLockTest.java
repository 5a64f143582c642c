package io.mortise.it.compositeprocesses;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import io.mortise.it.support.Names;
import io.mortise.it.support.ProxiedServers;
import io.mortise.it.support.ServerFault;
import io.mortise.it.support.TestThreads;
import io.mortise.redlock.RedLock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** A RedLock and one of Redisson with the same name, on the same three nodes. */
@Timeout(60)
class RedissonRedLockTest {
  private static final Duration LEASE = Duration.ofSeconds(30);

  @RegisterExtension static final ProxiedServers nodes = new ProxiedServers(3);

  /** No node is silent here; on a busy machine each may be late. */
  private static final Duration BUDGET = Duration.ofSeconds(5);

  private static List<RedissonClient> redissons;

  private final String name = Names.fresh();
  private final RedLock ours =
      RedLock.builder()
          .members(
              name,
              nodes.proxyUris().stream()
                  .map(uri -> nodes.client(uri, LockOptions.defaults()))
                  .toList())
          .nodeWaitBudget(BUDGET)
          .build();
  private final RLock theirs = SectionLocks.redissons(redissons, name);

  @BeforeAll
  static void start() {
    redissons = SectionLocks.theirsWithoutRetries(nodes.proxyUris(), LEASE);
  }

  @AfterAll
  static void stop() {
    redissons.forEach(RedissonClient::shutdown);
  }

  @Test
  void oursExcludesTheirs() {
    ours.lock();
    assertFalse(theirs.tryLock());
    ours.unlock();
    assertTrue(theirs.tryLock());
    theirs.unlock();
  }

  @Test
  void theirsExcludesOurs() {
    theirs.lock();
    assertFalse(ours.tryLock());
    assertTrue(ours.isLocked());
    theirs.unlock();
    assertTrue(ours.tryLock());
    ours.unlock();
  }

  @Test
  void eachExcludesTheOtherWhenANodeIsDead() {
    nodes.begin(ServerFault.REFUSING, 2);
    ours.lock();
    assertFalse(theirs.tryLock());
    ours.unlock();
    theirs.lock();
    assertFalse(ours.tryLock());
    theirs.unlock();
  }

  @Test
  void aWaiterOfEitherKindEntersAfterTheReleaseOfTheOther() throws Exception {
    try (TestThreads threads = new TestThreads()) {
      ours.lock();
      CountDownLatch asking = new CountDownLatch(1);
      Future<Long> waiter =
          threads.ask(
              () -> {
                asking.countDown();
                theirs.lock();
                long now = System.nanoTime();
                theirs.unlock();
                return now;
              });
      asking.await();
      assertFalse(waiter.isDone());
      ours.unlock();
      waiter.get(20, TimeUnit.SECONDS);

      theirs.lock();
      Future<Boolean> waiting = threads.ask(() -> ours.tryLock(Duration.ofSeconds(20)));
      assertFalse(waiting.isDone());
      theirs.unlock();
      assertTrue(waiting.get(20, TimeUnit.SECONDS));
    }
    assertTrue(ours.forceUnlock(), "its thread has ended without a release");
    assertEquals(false, ours.isLocked());
  }
}
