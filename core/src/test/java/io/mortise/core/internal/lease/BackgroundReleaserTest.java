package io.mortise.core.internal.lease;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.concurrent.ScheduledTask;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import io.mortise.connection.topology.Topology;
import io.mortise.connection.topology.TopologyFactory;
import io.mortise.core.internal.engine.FakeProtocol;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A pending release is repeated, whatever its worker meets. */
@Timeout(60)
class BackgroundReleaserTest {
  private static final String RELEASED = RespServer.integers(List.of(1L, 0L));
  private static final String FORCED = RespServer.integers(List.of(2L, 0L));

  /** A clock that cannot be read while the heap is full. */
  private final class FragileTicker extends Ticker {
    @Override
    public long read() {
      if (heapIsFull) {
        failed.incrementAndGet();
        throw new OutOfMemoryError("on purpose");
      }
      return 0;
    }
  }

  private volatile boolean heapIsFull;
  private volatile String answer = RespServer.HANG_UP;
  private final AtomicInteger failed = new AtomicInteger();
  private final RespServer server = new RespServer(command -> answer());
  private final Ticker ticker = new FragileTicker();
  private final ClosingState closing = new ClosingState();
  private final WorkerPool workers = new WorkerPool("test");
  private final Topology topology =
      TopologyFactory.create(server.uri(), TestSettings.DEFAULTS, workers);
  private final ScriptExecutor commands =
      new ScriptExecutor(topology, workers, TestSettings.DEFAULTS);

  /** Not started: the test runs what is due. */
  private final Scheduler scheduler =
      new Scheduler(() -> 0, () -> {}, workers.threads("scheduler"));

  private final BackgroundReleaser releaser =
      new BackgroundReleaser(
          commands,
          scheduler,
          new BackgroundTasks(workers, scheduler, closing, ticker),
          closing,
          ticker,
          Math::random);

  private String answer() {
    heapIsFull = answer.equals(RespServer.HANG_UP);
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
    await().atMost(BackgroundCall.LIVENESS).until(() -> failed.get() > 0);
    answer = RELEASED;
    heapIsFull = false;
    awaitAfterRuns(() -> assertEquals(0, releaser.size()));
    assertEquals(0, scheduler.size());
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

  private void release(String holder) {
    releaser.releaseUntilConfirmed(
        new FakeProtocol("orders"), holder, UnansweredAttempts.NONE.plusHold(1_000));
  }
}
