package io.mortise.core.internal.engine;

import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import io.mortise.connection.topology.TopologyFactory;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.lease.ReleaseFairness;
import io.mortise.core.spi.WaitPolicy;

/** Clients of a {@link RespServer}. */
public final class TestClients {
  private TestClients() {}

  /** Returns a client that never yields to other clients. */
  public static RedisLockClient of(RespServer server, LockOptions options) {
    return of(server, options, Thread::new, new ReleaseFairness(0));
  }

  public static RedisLockClient of(
      RespServer server,
      LockOptions options,
      WorkerPool.NamedThreadFactory threads,
      ReleaseFairness fairness) {
    return new RedisLockClient(
        options,
        workers -> TopologyFactory.create(server.uri(), TestSettings.DEFAULTS, workers),
        threads,
        fairness,
        WaitPolicy.AS_ASKED);
  }
}
