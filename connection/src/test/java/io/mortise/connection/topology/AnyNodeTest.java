package io.mortise.connection.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.ConnectionPool;
import io.mortise.connection.pool.LazyConnectionPool;
import io.mortise.connection.pool.RedisConnection;
import io.mortise.connection.testing.FakeCluster;
import io.mortise.connection.testing.TestCalls;
import io.mortise.connection.testing.TestSettings;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;

/** The node of a cluster without sharded channels at which the channels are subscribed. */
@Timeout(60)
class AnyNodeTest {
  private static final long LONG_NANOS = 20_000_000_000L;

  private final FakeCluster fake = new FakeCluster(3);
  private final WorkerPool workers = new WorkerPool("test");
  private final List<HostAndPort> subscribers = new CopyOnWriteArrayList<>();
  private final Topology servers =
      new ClusterTopology(
          new ClusterNodes(
              Stream.of(0, 1, 2).map(this::addressOf).collect(Collectors.toSet()), NotedPool::new),
          workers,
          TestSettings.DEFAULTS.ticker(),
          new Random(1));
  private final ScriptExecutor commands =
      new ScriptExecutor(servers, workers, FakeCluster.within(LONG_NANOS));

  /** Notes the connections that are made for a subscription. */
  private final class NotedPool implements ConnectionPool {
    private final HostAndPort server;
    private final ConnectionPool connections;

    NotedPool(HostAndPort server) {
      this.server = server;
      this.connections =
          new LazyConnectionPool(
              server, DefaultJedisClientConfig.builder().build(), TestSettings.DEFAULTS);
    }

    @Override
    public PooledConnection borrow(Deadline deadline) throws InterruptedException {
      return connections.borrow(deadline);
    }

    @Override
    public Connection connect(Deadline deadline) {
      subscribers.add(server);
      return connections.connect(deadline);
    }

    @Override
    public int maxConnections() {
      return connections.maxConnections();
    }

    @Override
    public int inUse() {
      return connections.inUse();
    }

    @Override
    public boolean isClosed() {
      return connections.isClosed();
    }

    @Override
    public void close() {
      connections.close();
    }
  }

  private HostAndPort addressOf(int node) {
    return HostAndPort.from(fake.node(node).address());
  }

  @AfterEach
  void close() {
    servers.close();
    workers.close();
    fake.close();
  }

  private void subscribe() throws CommandException {
    Topology.SubscriptionEndpoint anyNode =
        Objects.requireNonNull(servers.endpointFor("any channel"));
    RedisConnection.disconnect(anyNode.connect(TestSettings.after(LONG_NANOS)));
  }

  @Test
  void aNodeThatIsKnownToBeDeadIsNotTriedBeforeTheOthers() throws Exception {
    fake.tellOfShards(FakeCluster.NO_SHARDS);
    commands.run(TestCalls.inspect(fake.nameAt(0, 1)));
    fake.node(0).close();
    assertThrows(CommandException.class, () -> commands.run(TestCalls.inspect(fake.nameAt(0, 1))));

    for (int i = 0; i < 20; i++) {
      subscribe();
    }

    assertEquals(Set.of(addressOf(1), addressOf(2)), Set.copyOf(subscribers));
  }

  @Test
  void aNodeThatIsKnownToBeDeadIsTriedWhenNoOtherOneAnswers() throws Exception {
    fake.tellOfShards(FakeCluster.NO_SHARDS);
    commands.run(TestCalls.inspect(fake.nameAt(0, 1)));
    fake.close();
    assertThrows(CommandException.class, () -> commands.run(TestCalls.inspect(fake.nameAt(0, 1))));

    assertThrows(CommandException.class, this::subscribe);

    assertEquals(Set.of(addressOf(0), addressOf(1), addressOf(2)), Set.copyOf(subscribers));
  }
}
