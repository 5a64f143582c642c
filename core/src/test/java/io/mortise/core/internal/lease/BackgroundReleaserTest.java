package io.mortise.core.internal.lease;

import static java.util.concurrent.TimeUnit.SECONDS;
import static java.util.stream.Collectors.toSet;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.concurrent.ScheduledTask;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.FakeTicker;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import io.mortise.connection.topology.Topology;
import io.mortise.connection.topology.TopologyFactory;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.lease.TransferableHold.TokenReserve;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.PlainLockProtocol;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A pending release is repeated, whatever its worker meets. */
@Timeout(60)
class BackgroundReleaserTest {
  private static final ConnectionSettings SETTINGS = TestSettings.within(Duration.ofSeconds(40));
  private static final int MAX_WORKERS = 8;
  private static final long LEASE_END = 1_000;
  private static final String RELEASED = RespServer.integers(List.of(1L, 0L));
  private static final long SECOND_NANOS = SECONDS.toNanos(1);
  private static final long DAY_NANOS = 86_400 * SECOND_NANOS;
  private static final String NOT_FOUND = RespServer.integers(List.of(0L, 0L));
  private static final String FORCED = RespServer.integers(List.of(2L, 0L));

  private final FakeTicker clock = new FakeTicker();
  private volatile String answer = RespServer.HANG_UP;
  private final RespServer server = new RespServer(command -> answer());
  private final FragileTicker ticker = new FragileTicker(clock);
  private final ClosingState closing = new ClosingState();
  private final AtomicInteger threads = new AtomicInteger();
  private final WorkerPool workers =
      new WorkerPool(
          "test",
          (task, name) -> {
            threads.incrementAndGet();
            return WorkerPool.thread(task, name);
          });
  private final Topology topology = TopologyFactory.create(server.uri(), SETTINGS, workers);
  private final ScriptExecutor commands = new ScriptExecutor(topology, workers, SETTINGS);

  /** Not started: the test runs what is due. */
  private final Scheduler scheduler =
      new Scheduler(() -> 0, () -> Long.MAX_VALUE, workers.threads("scheduler"));

  private final BackgroundTasks tasks = new BackgroundTasks(workers, scheduler, closing, ticker);
  private final ReleaseFairness fairness = new ReleaseFairness(0);
  private final BackgroundReleaser releaser =
      new BackgroundReleaser(
          commands,
          scheduler,
          tasks,
          closing,
          ticker,
          Math::random,
          new ReleaseObserver(
              channel -> false, fairness, new NotifiedWaiters(commands, tasks, ticker), ticker));

  private String answer() {
    if (answer.equals(RespServer.HANG_UP)) {
      ticker.fillHeap();
    } else {
      ticker.freeHeap();
    }
    return answer;
  }

  @AfterEach
  void close() {
    workers.close();
    topology.close();
    server.close();
  }

  @Test
  void aReleaseWhoseWorkerRanOutOfMemoryIsRepeated() {
    release("holder");
    await().atMost(BackgroundCall.LIVENESS).until(() -> ticker.failures() > 0);
    answer = RELEASED;
    ticker.freeHeap();
    awaitAfterRuns(this::assertNothingIsPending);
  }

  /** Otherwise this client would not pause for the others, nor look after the notified one. */
  @Test
  void theReleaseOfAnOfferedHoldIsReported() {
    answer = RespServer.integers(List.of(1L, 3L, 1L));
    LockProtocol lock = new PlainLockProtocol(new LockName("orders"), LockOptions.defaults());
    TransferableHold hold =
        new TransferableHold("holder", 1_000, 1_000, 60_000, 42, TokenReserve.NONE, 0);

    releaser.releaseNow(lock, hold, SECONDS.toNanos(10));

    assertTrue(fairness.pauseNanos(lock, clock.read()) > 0);
    assertEquals(1, scheduler.entries(ScheduledTask.class).size(), "a look");
    assertEquals(0, releaser.size());
  }

  /** The mark of the forced release says nothing of an attempt that is still on its way. */
  @Test
  void aHoldThatWasForcedOutIsNoneOfTheAttemptsThatMayArrive() {
    answer = FORCED;
    releaser.releaseUntilConfirmed(
        new FakeProtocol("orders"), "holder", UnansweredAttempts.NONE.plusAttempt(1_000));
    awaitAfterRuns(() -> assertTrue(server.heard().size() > 2));
    assertEquals(1, releaser.size());
    answer = RELEASED;
    awaitAfterRuns(() -> assertEquals(0, releaser.size()));
  }

  private void assertNothingIsPending() {
    assertEquals(0, releaser.size());
    assertEquals(0, scheduler.size());
  }

  private void awaitAfterRuns(ThrowingRunnable check) {
    await()
        .atMost(BackgroundCall.LIVENESS)
        .untilAsserted(
            () -> {
              scheduler.entries(ScheduledTask.class).forEach(task -> task.onDue(0));
              check.run();
            });
  }

  @Test
  void aReleaseThatComesAfterTheLastOneOfAClosedClientIsGivenUp() {
    closing.begin();
    release("before");
    assertEquals(1, releaser.size(), "the closing thread takes it");

    releaser.stop();
    assertEquals(0, releaser.size());
    release("after");
    assertEquals(0, releaser.size());
  }

  private void releaseAtASilentServer(int holds) {
    answer = RespServer.SILENCE;
    for (int i = 0; i < holds; i++) {
      release("holder" + i);
    }
    await().atMost(BackgroundCall.LIVENESS).until(() -> server.heard().size() == MAX_WORKERS);
  }

  @Test
  void aSilentServerKeepsFewThreadsWaitingAndGetsAllReleasesInTheEnd() throws Exception {
    releaseAtASilentServer(100);
    scheduler.entries(ScheduledTask.class).forEach(task -> task.onDue(0));

    assertEquals(MAX_WORKERS, threads.get());
    assertEquals(100, releaser.size());
    answer = RELEASED;
    server.restart();
    // Those that were under way when it stopped may find it refusing connections, and come again.
    awaitAfterRuns(this::assertNothingIsPending);
    assertEquals(100, releasedHolders().size());
  }

  private Set<String> releasedHolders() {
    return server.heard().stream().flatMap(List::stream).filter(this::isHolder).collect(toSet());
  }

  private boolean isHolder(String word) {
    return word.startsWith("holder");
  }

  @Test
  void aReleaseThatWaitsForAWorkerEndsWithItsLease() {
    releaseAtASilentServer(MAX_WORKERS + 5);

    scheduler.entries(ScheduledTask.class).forEach(task -> task.onDue(LEASE_END - 1));
    assertEquals(MAX_WORKERS + 5, releaser.size());
    scheduler.entries(ScheduledTask.class).forEach(task -> task.onDue(LEASE_END));
    assertEquals(MAX_WORKERS, releaser.size(), "the first of them are being tried");
  }

  @Test
  void theClosingThreadTakesTheReleasesThatWaitForAWorkerToo() {
    releaseAtASilentServer(100);

    closing.begin();
    assertEquals(100, releaser.takeAll().size());
    assertEquals(0, releaser.size());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "NOPERM this user has no permissions to run the 'evalsha' command",
        "WRONGPASS invalid username-password pair or user is disabled.",
        "ERR the proxy is out of order"
      })
  void aRefusedReleaseIsRepeatedUntilItsLeaseEnds(String refusal) {
    answer = RespServer.error(refusal);
    release("holder");
    awaitAfterRuns(() -> assertTrue(server.heard().size() > 2));
    assertEquals(1, releaser.size());

    clock.advance(LEASE_END);
    awaitAfterRuns(this::assertNothingIsPending);
  }

  @Test
  void aReleaseIsRepeatedOnceTheCauseOfItsRefusalIsMended() {
    answer = RespServer.error("NOPERM this user has no permissions to run the 'evalsha' command");
    release("holder");
    awaitAfterRuns(() -> assertTrue(server.heard().size() > 1));

    answer = RELEASED;
    awaitAfterRuns(() -> assertEquals(0, releaser.size()));
  }

  /** Otherwise each attempt without an answer would cost a command a second for a day. */
  @Test
  void aReleaseThatFindsNothingIsRepeatedMoreAndMoreSeldomUntilItsLeaseEnds() {
    answer = NOT_FOUND;
    releaser.releaseUntilConfirmed(
        new FakeProtocol("orders"), "holder", UnansweredAttempts.NONE.plusAttempt(DAY_NANOS));

    while (releaser.size() > 0) {
      long pause = awaitPause();
      assertTrue(pause <= Math.max(SECOND_NANOS, clock.read() / 32), "a late attempt would wait");
      assertTrue(server.heard().size() < 500, () -> server.heard().size() + ": too often");
      runAfter(pause);
    }

    assertEquals(DAY_NANOS, clock.read(), "it ends with its lease");
  }

  @Test
  void aReleaseWithoutAnAnswerFollowsTheEndOfALongOutageSoon() {
    answer = RespServer.error("LOADING Redis is loading the dataset in memory");
    releaser.releaseUntilConfirmed(
        new FakeProtocol("orders"), "holder", UnansweredAttempts.NONE.plusAttempt(DAY_NANOS));
    assertTrue(awaitPause() <= SECOND_NANOS);

    runAfter(DAY_NANOS / 2);
    assertTrue(awaitPause() <= SECOND_NANOS);
    answer = NOT_FOUND;
    runAfter(SECOND_NANOS);

    assertTrue(awaitPause() <= SECOND_NANOS, "an attempt may arrive just now");
  }

  /** Waits until the release has run, and returns the pause before the next one; 0 at its end. */
  private long awaitPause() {
    long running = clock.read() + SECOND_NANOS; // as it is set before it runs
    await()
        .pollInterval(Duration.ofMillis(1))
        .atMost(BackgroundCall.LIVENESS)
        .until(
            () ->
                scheduler.entries(ScheduledTask.class).stream()
                    .allMatch(task -> task.dueNanos() != running));
    return scheduler.entries(ScheduledTask.class).stream()
        .mapToLong(task -> task.dueNanos() - clock.read())
        .max()
        .orElse(0);
  }

  private void runAfter(long pauseNanos) {
    clock.advance(pauseNanos);
    scheduler.entries(ScheduledTask.class).forEach(task -> task.onDue(clock.read()));
  }

  private void release(String holder) {
    releaser.releaseUntilConfirmed(
        new FakeProtocol("orders"), holder, UnansweredAttempts.NONE.plusHold(LEASE_END));
  }
}
