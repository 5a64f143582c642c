package io.mortise.core.internal.lease;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.FakeCluster;
import io.mortise.connection.testing.FakeTicker;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import io.mortise.connection.topology.Topology;
import io.mortise.connection.topology.TopologyFactory;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.scripts.ScriptCall;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A silent server of a cluster delays the pending releases at no other one, and one without them is
 * forgotten.
 */
@Timeout(60)
class ReleasesAtServersTest {
  private static final ConnectionSettings SETTINGS = TestSettings.within(Duration.ofSeconds(40));
  private static final int MAX_WORKERS = 8;
  private static final int HOLDS = 50;
  private static final long LEASE_END = 1_000;

  private final FakeCluster cluster = new FakeCluster(2);
  private final WorkerPool workers = new WorkerPool("test");
  private final Topology topology = TopologyFactory.create(cluster.uri(), SETTINGS, workers);
  private final FakeTicker ticker = new FakeTicker();
  private final ClosingState closing = new ClosingState();

  /** Not started: no release is repeated. */
  private final Scheduler scheduler =
      new Scheduler(() -> 0, () -> Long.MAX_VALUE, workers.threads("scheduler"));

  private final ScriptExecutor commands = new ScriptExecutor(topology, workers, SETTINGS);

  private final BackgroundTasks tasks = new BackgroundTasks(workers, scheduler, closing, ticker);

  private final BackgroundReleaser releaser =
      new BackgroundReleaser(
          commands,
          scheduler,
          tasks,
          closing,
          ticker,
          Math::random,
          new ReleaseObserver(
              channel -> false,
              new ReleaseFairness(0),
              new NotifiedWaiters(commands, tasks, ticker),
              ticker));

  @AfterEach
  void close() {
    workers.close();
    topology.close();
    cluster.close();
  }

  @Test
  void aSilentServerKeepsNoReleaseFromAnotherOne() {
    cluster.answer(0, command -> RespServer.SILENCE);
    cluster.answer(1, command -> RespServer.integers(List.of(1L, 0L)));
    topology.refresh();
    for (int i = 0; i < HOLDS; i++) {
      release(cluster.nameAt(0, i));
    }
    await().atMost(BackgroundCall.LIVENESS).until(() -> cluster.said(0).size() == MAX_WORKERS);

    release(cluster.nameAt(1, HOLDS));

    await().atMost(BackgroundCall.LIVENESS).until(() -> releaser.size() == HOLDS);
    assertEquals(1, cluster.said(1).size());
    assertEquals(MAX_WORKERS, cluster.said(0).size());
  }

  /** As when failovers have led from one address to another again and again. */
  @Test
  void aServerForWhichNothingWaitsOrRunsIsForgotten() {
    topology.refresh();
    ReleaseWorkers releases = new ReleaseWorkers(commands, workers::execute);
    CountDownLatch go = new CountDownLatch(1);
    AtomicInteger done = new AtomicInteger();
    for (int i = 0; i < 2; i++) {
      releases.add(
          leave(cluster.nameAt(i, i)),
          () -> {
            Uninterruptibles.awaitUninterruptibly(go);
            done.incrementAndGet();
          });
    }
    releases.ensureWorkers();
    assertEquals(2, releases.servers(), "both run");
    go.countDown();

    await()
        .atMost(BackgroundCall.LIVENESS)
        .until(
            () -> {
              releases.ensureWorkers();
              return releases.servers() == 0;
            });

    assertEquals(2, done.get());
    releases.add(leave(cluster.nameAt(0, 0)), done::incrementAndGet);
    releases.ensureWorkers();
    await().atMost(BackgroundCall.LIVENESS).until(() -> done.get() == 3);
  }

  private static ScriptCall leave(String name) {
    return new FakeProtocol(name).leave("holder");
  }

  private void release(String name) {
    releaser.releaseUntilConfirmed(
        new FakeProtocol(name), "holder", UnansweredAttempts.NONE.plusHold(LEASE_END));
  }
}
