package io.mortise.it.redlock;

import static io.mortise.it.support.Eventually.LIVENESS;
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
import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One loss is one warning, however many holds contain the lost one. */
@Timeout(60)
class LossWarningTest {
  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(3);

  /** By default a reader joins a hold that is at most 20 ms old. */
  private static final LockOptions SHARING =
      LockOptions.builder().tuning(t -> t.maxHandOffTime(Duration.ofMinutes(1))).build();

  private final String name = Names.fresh();
  private final QuorumClients here = nodes.direct(SHARING, Duration.ofSeconds(2));

  @BeforeAll
  static void recordWarnings() {
    LoggedWarnings.note();
  }

  private RedisLock plain(String suffix) {
    return new RedisLock(here.client(0), name + suffix);
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
  void aReadHoldThatSeveralThreadsShare() throws Exception {
    var read = new RedisReadWriteLock(here.client(0), name).readLock();
    CountDownLatch inside = new CountDownLatch(3);
    CountDownLatch lost = new CountDownLatch(1);
    try (TestThreads threads = new TestThreads()) {
      for (int i = 0; i < 3; i++) {
        threads.start(
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
      threads.join(LIVENESS);
    }
    assertWarnedOnce(name);
  }

  @Test
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
  void aMemberThatItsThreadStillHoldsAfterAMultiLock() {
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
    QuorumLease lease = here.acquireEverywhere(name);
    assertTrue(new RedisLock(here.client(2), name).forceUnlock());
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

  /** The third node says after the release, and on its own, that its hold was gone. */
  @Test
  void aNodeThatAnswersTheReleaseLate() throws Exception {
    LockOptions patient = LockOptions.builder().commandTimeout(Duration.ofSeconds(10)).build();
    QuorumClients late = nodes.proxied(patient, Duration.ofMillis(2_500));
    QuorumLease lease = late.acquireEverywhere(name);
    assertTrue(here.lock(name).forceUnlock());
    nodes.proxy(2).delay(Direction.TO_CLIENT, Duration.ofSeconds(5));
    assertThrows(LeaseLostException.class, lease::close);
    late.awaitIdle();
    assertWarnedOnce(name);
  }
}
