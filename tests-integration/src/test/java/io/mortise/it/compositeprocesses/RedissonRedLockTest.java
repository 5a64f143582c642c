package io.mortise.it.compositeprocesses;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.it.support.Names;
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
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** A quorum lock of ours and one of Redisson's, of one name, on the same three nodes. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class RedissonRedLockTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final int NODES = 3;

  private static Nodes nodes;
  private static List<LockClient> clients;
  private static List<RedissonClient> redissons;

  private final String name = Names.fresh();
  private final RedLock ours = SectionLocks.redLock(clients, name);
  private final RLock theirs = SectionLocks.redissons(redissons, name);

  @BeforeAll
  static void start() {
    nodes = Nodes.start(NODES);
    clients = nodes.uris().stream().map(LockClient::create).toList();
    redissons = SectionLocks.impatient(nodes.uris(), LEASE);
  }

  @AfterAll
  static void stop() {
    redissons.forEach(RedissonClient::shutdown);
    clients.forEach(LockClient::close);
    nodes.close();
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
    nodes.proxy(2).cut();
    try {
      ours.lock();
      assertFalse(theirs.tryLock());
      ours.unlock();
      theirs.lock();
      assertFalse(ours.tryLock());
      theirs.unlock();
    } finally {
      nodes.proxy(2).restore();
    }
  }

  @Test
  void whoWaitsOfEitherKindIsInAfterTheReleaseOfTheOther() throws Exception {
    try (TestThreads crew = new TestThreads()) {
      ours.lock();
      CountDownLatch asking = new CountDownLatch(1);
      Future<Long> waiter =
          crew.ask(
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
      Future<Boolean> waiting = crew.ask(() -> ours.tryLock(Duration.ofSeconds(20)));
      assertFalse(waiting.isDone());
      theirs.unlock();
      assertTrue(waiting.get(20, TimeUnit.SECONDS));
    }
    assertTrue(ours.forceUnlock(), "its thread has ended without it");
    assertEquals(false, ours.isLocked());
  }
}
