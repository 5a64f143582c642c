package io.mortise.core.internal.lease;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.Lease;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.composite.LeaseGroup;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import io.mortise.scripts.Script;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A hold ends in spite of every failure, and its local queue moves. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // the test is about the end of holds
class LeaseTerminationTest {
  private static final String RELEASED = RespServer.integers(List.of(1L, 0L));
  private static final String UNREADABLE = RespServer.OK;

  /** A lease that does not end during a test, however busy the machine is. */
  private static final Duration LONG = Duration.ofMinutes(5);

  private static final Duration SHORT = Duration.ofSeconds(2);

  /** By the SHA-1 of the script. */
  private final Map<String, String> answers = new ConcurrentHashMap<>();

  private final RespServer server =
      new RespServer(command -> answers.getOrDefault(command.get(1), RespServer.HANG_UP));
  private volatile boolean noThreads;
  private final AtomicInteger refused = new AtomicInteger();
  private final RedisLockClient client =
      TestClients.of(
          server,
          LockOptions.builder()
              .lease(Duration.ofSeconds(2))
              .commandTimeout(Duration.ofSeconds(5))
              .build(),
          this::thread,
          new ReleaseFairness(0));
  private final RedisLock lock = new RedisLock(client, "orders");

  LeaseTerminationTest() {
    answer("lock/acquire", RespServer.integers(List.of(1L, 42L, 0L)));
    answer("lock/acquire_all", RespServer.integers(List.of(1L, 42L, 0L)));
    answer("lock/renew", RespServer.integers(List.of(1L)));
    answer("lock/release", RELEASED);
  }

  private void answer(String script, String answer) {
    answers.put(new String(Script.load(script).sha1(), UTF_8), answer);
  }

  private Thread thread(Runnable task, String name) {
    if (noThreads) {
      refused.incrementAndGet();
      throw new OutOfMemoryError("unable to create native thread (on purpose)");
    }
    return new Thread(task, name);
  }

  @AfterEach
  void close() {
    noThreads = false;
    client.close();
    server.close();
  }

  private void assertLocalQueueIsFree() {
    assertEquals(0, client.status().contended());
  }

  private void awaitNoPendingRelease() {
    await()
        .atMost(BackgroundCall.LIVENESS)
        .untilAsserted(() -> assertEquals(0, client.status().pendingReleases()));
  }

  @Test
  void aReleaseWithoutAReplyIsReportedEvenWithoutAWorkerAndIsRepeatedWhenThereIsOne() {
    lock.withLease(LONG).lock();
    answer("lock/release", RespServer.HANG_UP);
    noThreads = true;

    LockException thrown = assertThrows(LockException.class, lock::unlock);

    assertTrue(thrown.getMessage().contains("could not be confirmed"), thrown.getMessage());
    assertLocalQueueIsFree();
    assertEquals(1, client.status().pendingReleases());
    answer("lock/release", RELEASED);
    noThreads = false;
    awaitNoPendingRelease();
  }

  @Test
  void aLossWithoutAWorkerFreesTheLocalQueueAndListenersAreNotifiedWhenThereIsOne() {
    answer("lock/renew", RespServer.HANG_UP);
    noThreads = true; // from the beginning: a thread that was made once would serve again
    Lease lease = lock.tryAcquire().orElseThrow();
    List<LeaseLoss> notified = new CopyOnWriteArrayList<>();
    lease.onLost(notified::add);

    await().atMost(BackgroundCall.LIVENESS).until(() -> lease.state() == State.LOST);

    assertLocalQueueIsFree();
    assertEquals(List.of(), notified);
    noThreads = false;
    await().atMost(BackgroundCall.LIVENESS).untilAsserted(() -> assertEquals(1, notified.size()));
    awaitNoPendingRelease();
  }

  @Test
  void aReleaseThatFailsInTheMiddleFreesTheLocalQueueAndIsRepeated() {
    Lease lease = lock.withLease(LONG).tryAcquire().orElseThrow();
    answer("lock/release", UNREADABLE);

    assertThrows(ClassCastException.class, lease::close);

    assertEquals(State.RELEASED, lease.state());
    assertLocalQueueIsFree();
    assertEquals(1, client.status().pendingReleases());
  }

  @Test
  void eachReleaseOfAGroupThatFailsInTheMiddleFreesItsLocalQueue() throws Exception {
    List<LeaseSource> sources =
        List.of(
            LeaseBackedLock.sourceOf(lock),
            LeaseBackedLock.sourceOf(new RedisLock(client, "invoices")));
    LeaseTerms terms = LeaseTerms.of(client.options(), Duration.ZERO, LONG, true);
    List<OwnedLease> leases =
        ((GroupAttemptResult.Acquired) sources.get(0).acquireTogether(sources, terms, null))
            .leases();
    assertEquals(2, client.status().contended());
    answer("lock/release", UNREADABLE);

    List<RuntimeException> thrown = LeaseGroup.release(leases);

    assertEquals(2, thrown.size());
    for (OwnedLease lease : leases) {
      assertEquals(State.RELEASED, lease.state());
    }
    assertLocalQueueIsFree();
  }

  @Test
  void aScheduledTaskRunsAlsoWhenThereWasNoWorkerInTime() {
    List<String> done = new CopyOnWriteArrayList<>();
    noThreads = true;
    var unused = client.context().lease().tasks().schedule(() -> done.add("done"), 0);

    await().atMost(BackgroundCall.LIVENESS).until(() -> refused.get() > 0);

    assertEquals(List.of(), done);
    noThreads = false;
    await()
        .atMost(BackgroundCall.LIVENESS)
        .untilAsserted(() -> assertEquals(List.of("done"), done));
  }

  @Test
  void aReleaseThatAnErrorHasKeptFromBeingEnteredIsCompletedByTheScheduler() throws Exception {
    LeaseTerms terms = LeaseTerms.of(client.options(), Duration.ZERO, null, true);
    RedisLease lease =
        (RedisLease) LeaseBackedLock.sourceOf(lock).acquire(terms, null).orElseThrow();
    FailingSlot slot = new FailingSlot();
    lease.termination().setSlot(slot);
    assertTrue(lease.releasing().begin());
    client
        .context()
        .lease()
        .completions()
        .end(lease.releasing()); // as without memory for the entry
    client.context().lease().scheduler().add(lease);

    assertThrows(OutOfMemoryError.class, lease.releasing()::ensureEnded);
    lease.drop(); // as the user of a shared hold, after the error

    await().atMost(BackgroundCall.LIVENESS).until(() -> slot.releases.get() == 2);
  }

  private RedisLease acquired() throws InterruptedException {
    return acquired(null);
  }

  private RedisLease acquired(@Nullable Thread owner) throws InterruptedException {
    LeaseTerms terms = LeaseTerms.of(client.options(), Duration.ZERO, LONG, true);
    return (RedisLease) LeaseBackedLock.sourceOf(lock).acquire(terms, owner).orElseThrow();
  }

  /** As of a thread without stack that asks for the state of a lease that has run out. */
  @Test
  void aLossThatAnErrorHasInterruptedIsCompletedByTheScheduler() throws Exception {
    RedisLease lease = acquired();
    FailingSlot slot = new FailingSlot();
    lease.termination().setSlot(slot);

    assertThrows(
        OutOfMemoryError.class, () -> lease.lose(Reason.MISSING, System.nanoTime(), "on purpose"));

    await().atMost(BackgroundCall.LIVENESS).until(() -> slot.releases.get() == 2);
  }

  @Test
  void aLossThatAnErrorHasInterruptedIsCompletedWhenTheHoldIsReleased() throws Exception {
    RedisLease lease = acquired();
    client.context().lease().holds().forget(lease); // the scheduler does not come first
    FailingSlot slot = new FailingSlot();
    lease.termination().setSlot(slot);
    assertThrows(
        OutOfMemoryError.class, () -> lease.lose(Reason.MISSING, System.nanoTime(), "on purpose"));

    assertThrows(LeaseLostException.class, lease::release);

    assertEquals(2, slot.releases.get());
  }

  /** As of a member of a RedLock: its owner lives, and has no way to unlock it by itself. */
  @Test
  void aLostHoldThatIsReleasedInTheBackgroundLeavesTheScheduler() throws Exception {
    RedisLease lease = acquired(Thread.currentThread());
    assertTrue(lease.lose(Reason.MISSING, System.nanoTime(), "on purpose"));

    lease.releaseInBackground();

    await().atMost(BackgroundCall.LIVENESS).until(() -> client.status().scheduled() == 0);
    assertEquals(0, client.status().pendingReleases(), "Redis has nothing of it");
  }

  /** An error may have kept the thread from unlocking it, and a thread of a pool lives on. */
  @Test
  void aLostHoldLeavesTheSchedulerAlthoughItsThreadHasNotUnlockedIt() throws Exception {
    RedisLease lease = acquired(Thread.currentThread());
    int others = client.status().scheduled() - 1;

    assertTrue(lease.lose(Reason.MISSING, System.nanoTime(), "on purpose"));

    await().atMost(BackgroundCall.LIVENESS).until(() -> client.status().scheduled() == others);
    assertThrows(LeaseLostException.class, lease::release);
  }

  @Test
  void aReleasedHoldThatAnErrorHasKeptInTheSchedulerLeavesItWhenItIsDue() throws Exception {
    LeaseTerms terms = LeaseTerms.of(client.options(), Duration.ZERO, SHORT, true);
    RedisLease lease =
        (RedisLease) LeaseBackedLock.sourceOf(lock).acquire(terms, null).orElseThrow();
    int others = client.status().scheduled() - 1;
    assertTrue(lease.releasing().begin());
    client.context().lease().scheduler().add(lease); // as without memory for its entry
    lease.releasing().ensureEnded();

    await().atMost(BackgroundCall.LIVENESS).until(() -> client.status().scheduled() == others);
  }

  /** A renewal or a forced release may end the hold as soon as it is registered. */
  @Test
  void anEarlierAttemptOfAHoldThatIsLostBeforeItIsPublishedIsReleased() throws Exception {
    LeaseTerms terms = LeaseTerms.of(client.options(), Duration.ZERO, LONG, true);
    RedisLease lease =
        (RedisLease) LeaseBackedLock.sourceOf(lock).acquire(terms, null).orElseThrow();
    assertTrue(lease.lose(Reason.MISSING, System.nanoTime(), "on purpose"));
    assertEquals(0, client.status().pendingReleases(), "there is no other attempt yet");

    answer("lock/release", RespServer.integers(List.of(0L, 0L))); // it has not arrived yet
    lease
        .termination()
        .setUnanswered(UnansweredAttempts.NONE.plusAttempt(System.nanoTime() + LONG.toNanos()));

    assertEquals(1, client.status().pendingReleases());
    answer("lock/release", RELEASED);
    awaitNoPendingRelease();
  }

  /** A slot that is given up at the second attempt. */
  private static final class FailingSlot extends FakeQueueSlot {
    final AtomicInteger releases = new AtomicInteger();

    @Override
    public boolean hasWaiters() {
      return false;
    }

    @Override
    public void release() {
      if (releases.incrementAndGet() == 1) {
        throw new OutOfMemoryError("on purpose");
      }
    }
  }
}
