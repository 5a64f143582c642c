package io.mortise.core.internal.lease;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.concurrent.ScheduledTask;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.FakeTicker;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import io.mortise.connection.topology.Topology;
import io.mortise.connection.topology.TopologyFactory;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.PlainLockProtocol;
import io.mortise.scripts.Script;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When a client looks whether the waiter that it has notified has come. */
@Timeout(60)
class NotifiedWaitersTest {
  private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(25);
  private static final String NOTIFY = new String(Script.load("lock/notify").sha1(), UTF_8);
  private static final String NOBODY = ":0\r\n";
  private static final String NEXT = ":1\r\n";

  /** The answers to the looks, in their order; {@link #NOBODY} after the last. */
  private final Queue<String> answers = new ConcurrentLinkedQueue<>();

  private final RespServer server = new RespServer(command -> answer());
  private final FakeTicker ticker = new FakeTicker();
  private final WorkerPool workers = new WorkerPool("test");
  private final Topology topology =
      TopologyFactory.create(server.uri(), TestSettings.DEFAULTS, workers);

  /** Not started: the test runs what is due. */
  private final Scheduler scheduler =
      new Scheduler(ticker::read, () -> Long.MAX_VALUE, workers.threads("scheduler"));

  private final NotifiedWaiters notified =
      new NotifiedWaiters(
          new ScriptExecutor(topology, workers, TestSettings.DEFAULTS),
          new BackgroundTasks(workers, scheduler, new ClosingState(), ticker),
          ticker);
  private final PlainLockProtocol lock = lock("orders");

  private static PlainLockProtocol lock(String name) {
    return new PlainLockProtocol(new LockName(name), LockOptions.defaults());
  }

  private String answer() {
    String answer = answers.poll();
    return answer == null ? NOBODY : answer;
  }

  @AfterEach
  void close() {
    workers.close();
    topology.close();
    server.close();
  }

  private int pending() {
    return scheduler.entries(ScheduledTask.class).size();
  }

  /** Lets the time of a look pass. */
  private void look() {
    assertEquals(1, pending(), "looks that are to come");
    ScheduledTask task = scheduler.entries(ScheduledTask.class).get(0);
    assertEquals(CHECK_NANOS, task.dueNanos() - ticker.read());
    ticker.advance(CHECK_NANOS);
    task.onDue(ticker.read());
  }

  private void assertLooked(int times) {
    await().atMost(BackgroundCall.LIVENESS).untilAsserted(() -> assertEquals(times, looks()));
  }

  private long looks() {
    return server.heard().stream().filter(command -> command.contains(NOTIFY)).count();
  }

  @Test
  void aClientLooksOnceAMomentAfterItsRelease() {
    notified.onNotified(lock);
    look();
    assertLooked(1);
    assertEquals(0, pending());
  }

  @Test
  void theNextOneIsExpectedLikeTheFirst() {
    answers.add(NEXT);
    notified.onNotified(lock);
    look();
    await().atMost(BackgroundCall.LIVENESS).until(() -> pending() == 1);
    look();
    assertLooked(2);
    assertEquals(0, pending());
  }

  @Test
  void noLookIsNeededWhenALaterAttemptHasFoundTheLockHeld() {
    notified.onNotified(lock);
    notified.onHeld(lock, ticker.read());
    assertEquals(0, pending());
  }

  /** Redis may have run it before the release, and found the hold that the release has ended. */
  @Test
  void anAttemptThatWasSentBeforeTheReleaseDoesNotCount() {
    long sentNanos = ticker.read();
    ticker.advance(1);
    notified.onNotified(lock);
    notified.onHeld(lock, sentNanos);
    look();
    assertLooked(1);
  }

  @Test
  void anAttemptAtAnotherLockDoesNotCount() {
    notified.onNotified(lock);
    notified.onHeld(lock("other"), ticker.read());
    look();
    assertLooked(1);
  }

  /** The waiter that the second release has notified has its full time. */
  @Test
  void aLaterReleaseBeginsTheTimeAnew() {
    notified.onNotified(lock);
    ticker.advance(CHECK_NANOS - 1);
    notified.onNotified(lock);
    look();
    assertLooked(1);
  }
}
