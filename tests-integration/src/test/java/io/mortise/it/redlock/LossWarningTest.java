package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LoggedWarnings;
import io.mortise.it.support.Names;
import io.mortise.it.support.TestThreads;
import io.mortise.multilock.MultiLock;
import io.mortise.redlock.QuorumLease;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One loss is one warning, however many holds are made of what was lost. */
@Timeout(60)
class LossWarningTest {
  private final String name = Names.fresh();
  private FaultyNodes nodes;
  private QuorumClients here;

  @BeforeEach
  void start() throws Exception {
    LoggedWarnings.note();
    nodes = FaultyNodes.start(3);
    here = nodes.direct(LockOptions.defaults(), Duration.ofMillis(500)).warm();
  }

  @AfterEach
  void stop() {
    here.close();
    nodes.close();
  }

  private RedisLock plain(String suffix) {
    return new RedisLock(here.clients().get(0), name + suffix);
  }

  private static void assertLost(DistributedLock lock) {
    Eventually.until("lost", () -> !lock.isHeldByCurrentThread());
    assertThrows(LeaseLostException.class, lock::unlock);
  }

  private void assertWarnedOnce(String of) {
    Eventually.until("warned", () -> !LoggedWarnings.about(name).isEmpty());
    List<String> warnings = LoggedWarnings.about(name);
    assertEquals(1, warnings.size(), warnings::toString);
    assertTrue(warnings.get(0).contains("lock '" + of + "': the lease"), warnings::toString);
  }

  @Test
  @SuppressWarnings("LockNotBeforeTry")
  void aReadHoldThatSeveralThreadsShare() throws Exception {
    var read = new RedisReadWriteLock(here.clients().get(0), name).readLock();
    CountDownLatch inside = new CountDownLatch(3);
    CountDownLatch lost = new CountDownLatch(1);
    try (TestThreads crew = new TestThreads()) {
      for (int i = 0; i < 3; i++) {
        crew.start(
            () -> {
              read.lock();
              inside.countDown();
              lost.await();
              assertLost(read);
            });
      }
      inside.await();
      assertTrue(read.forceUnlock());
      lost.countDown();
      crew.join(QuorumClients.LIVENESS);
    }
    assertWarnedOnce(name);
  }

  @Test
  @SuppressWarnings("LockNotBeforeTry")
  void aMultiLockOfWhichAMemberIsLost() {
    MultiLock both = new MultiLock(plain(":a"), plain(":b"));
    both.lock();
    assertTrue(plain(":b").forceUnlock());
    assertLost(both);
    assertWarnedOnce(both.name());
    assertTrue(
        LoggedWarnings.about(name).get(0).contains("'" + name + ":b': somebody took the lock"));
  }

  @Test
  @SuppressWarnings("LockNotBeforeTry")
  void aMemberThatItsThreadHoldsOnAfterAMultiLock() {
    plain(":a").lock();
    MultiLock both = new MultiLock(plain(":a"), plain(":b"));
    both.lock();
    both.unlock();
    assertTrue(plain(":a").forceUnlock());
    assertLost(plain(":a"));
    assertWarnedOnce(name + ":a");
  }

  @Test
  void aRedLockWarnsOfEachNodeThatItLosesAndOfTheMajority() throws Exception {
    QuorumLease lease = here.takeEverywhere(name);
    assertTrue(new RedisLock(here.clients().get(2), name).forceUnlock());
    Eventually.until("warned", () -> LoggedWarnings.about(name).size() == 1);
    assertTrue(
        LoggedWarnings.about(name).get(0).contains("does not hold it any more, 2 of 3 nodes do"),
        () -> LoggedWarnings.about(name).toString());
    lease.ensureValid();

    assertTrue(here.lock(name).forceUnlock());
    assertThrows(LeaseLostException.class, lease::close);
    Eventually.until("warned", () -> LoggedWarnings.about(name).size() > 1);
    List<String> warnings = LoggedWarnings.about(name);
    assertTrue(
        warnings.stream().filter(line -> line.contains("the lease with fencing")).count() == 1
            && warnings.size() <= 3, // perhaps of the second node before that of the third
        warnings::toString);
  }
}
