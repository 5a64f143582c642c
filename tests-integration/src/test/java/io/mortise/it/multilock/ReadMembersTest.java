package io.mortise.it.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.TestThreads;
import io.mortise.multilock.MultiLock;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** MultiLocks whose members are the sides of read-write locks, also of one that threads share. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class ReadMembersTest {
  @RegisterExtension static final MemberServers sites = new MemberServers(2);

  private static RedisReadWriteLock site(int i) {
    return new RedisReadWriteLock(sites.here(i), sites.name(i));
  }

  private static RedisReadWriteLock otherSite(int i) {
    return new RedisReadWriteLock(sites.there(i), sites.name(i));
  }

  private static MultiLock reading() {
    return new MultiLock(site(0).readLock(), site(1).readLock());
  }

  private static MultiLock readingAndWriting() {
    return new MultiLock(site(0).readLock(), site(1).writeLock());
  }

  @AfterEach
  void nothingIsLeft() {
    sites.awaitHeld(Set.of());
    sites.awaitIdle();
  }

  @Test
  void readersOfBothAreInsideTogetherAndAWriterOfOneIsNot() throws Exception {
    CountDownLatch inside = new CountDownLatch(3);
    CountDownLatch leave = new CountDownLatch(1);
    try (TestThreads crew = new TestThreads()) {
      for (int i = 0; i < 3; i++) {
        crew.start(
            () -> {
              reading().lock();
              inside.countDown();
              leave.await();
              reading().unlock();
            });
      }
      inside.await();
      assertFalse(otherSite(0).writeLock().tryLock());
      assertFalse(otherSite(1).writeLock().tryLock());
      assertTrue(otherSite(1).readLock().tryLock());
      otherSite(1).readLock().unlock();
      leave.countDown();
      crew.join(MemberServers.LIVENESS);
    }
    assertTrue(otherSite(0).writeLock().tryLock(MemberServers.LIVENESS));
    otherSite(0).writeLock().unlock();
  }

  @Test
  void whoReadsByItselfAndInTheWholeHoldsBothUntilTheLastUnlock() throws Exception {
    site(0).readLock().lock();
    readingAndWriting().lock();
    assertEquals(2, site(0).readLock().holdCount());
    readingAndWriting().unlock();
    assertEquals(1, site(0).readLock().holdCount());
    assertEquals(Set.of(0), sites.held());
    site(0).readLock().lease().ensureValid();
    site(0).readLock().unlock();
  }

  @Test
  void aLostReadMemberEndsTheWholeOfEachThatSharesIt() throws Exception {
    CountDownLatch inside = new CountDownLatch(2);
    AtomicInteger told = new AtomicInteger();
    try (TestThreads crew = new TestThreads()) {
      for (int i = 0; i < 2; i++) {
        crew.start(
            () -> {
              MultiLock lock = reading();
              lock.lock();
              lock.lease().onLost(loss -> told.incrementAndGet());
              inside.countDown();
              Eventually.until("lost", () -> !lock.isHeldByCurrentThread());
              assertThrows(LeaseLostException.class, lock::unlock);
            });
      }
      inside.await();
      assertTrue(otherSite(0).readLock().forceUnlock());
      crew.join(MemberServers.LIVENESS);
    }
    Eventually.until("told", () -> told.get() == 2);
  }

  @Test
  void anInterruptedWaitForTheSecondLeavesNobodyInTheShareOfTheFirst() throws Exception {
    otherSite(1).writeLock().lock();
    for (int i = 0; i < 5; i++) {
      AsyncCall<Boolean> caller = AsyncCall.start(() -> reading().tryLock(MemberServers.HOUR));
      sites.awaitFirstTaken();
      caller.interrupt();
      assertThrows(InterruptedException.class, caller::get);
    }
    sites.awaitHeld(Set.of(1));
    assertTrue(otherSite(0).writeLock().tryLock(MemberServers.LIVENESS), "no reader is left");
    otherSite(0).writeLock().unlock();
    otherSite(1).writeLock().unlock();
  }

  /** Readers of both, writers of both in the other process, and those who mix. */
  @Test
  void allOfThemMakeProgress() throws Exception {
    AtomicInteger writers = new AtomicInteger();
    try (TestThreads crew = new TestThreads()) {
      for (int i = 0; i < 4; i++) {
        crew.start(() -> pass(reading(), writers, false));
      }
      crew.start(() -> pass(readingAndWriting(), writers, false));
      crew.start(
          () ->
              pass(
                  new MultiLock(otherSite(0).writeLock(), otherSite(1).writeLock()),
                  writers,
                  true));
      crew.join(Duration.ofSeconds(40));
    }
  }

  private static void pass(MultiLock lock, AtomicInteger writers, boolean writes) throws Exception {
    for (int i = 0; i < 20; i++) {
      assertTrue(lock.tryLock(Duration.ofSeconds(30)));
      assertEquals(writes ? 1 : 0, writes ? writers.incrementAndGet() : writers.get());
      Thread.onSpinWait();
      if (writes) {
        writers.decrementAndGet();
      }
      lock.unlock();
      TimeUnit.MICROSECONDS.sleep(ThreadLocalRandom.current().nextInt(2_000));
    }
  }

  @Test
  void closingTheClientLosesTheWholeAndLeavesNothing() throws Exception {
    LockClient closing = sites.client(0);
    MultiLock lock =
        new MultiLock(
            new RedisReadWriteLock(closing, sites.name(0)).readLock(), site(1).readLock());
    lock.lock();
    closing.close();
    assertThrows(LeaseLostException.class, lock::unlock);
  }
}
