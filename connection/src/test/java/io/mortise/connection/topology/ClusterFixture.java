package io.mortise.connection.topology;

import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.testing.FakeCluster;
import io.mortise.connection.testing.TestCalls;
import io.mortise.connection.testing.TestSettings;
import io.mortise.scripts.ScriptCall;
import org.junit.jupiter.api.AfterEach;

/** A cluster of two nodes, and a client of it. */
abstract class ClusterFixture {
  static final long LONG_NANOS = 20_000_000_000L;

  final FakeCluster fake = new FakeCluster(2);
  final WorkerPool workers = new WorkerPool("test");
  final Topology servers = TopologyFactory.create(fake.uri(), TestSettings.DEFAULTS, workers);
  final ScriptExecutor commands =
      new ScriptExecutor(servers, workers, FakeCluster.within(LONG_NANOS));
  final String name = fake.nameAt(0, 1);
  final ScriptCall inspect = TestCalls.inspect(name);

  @AfterEach
  void close() {
    servers.close();
    workers.close();
    fake.close();
  }
}
