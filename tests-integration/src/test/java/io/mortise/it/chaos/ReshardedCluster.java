package io.mortise.it.chaos;

import io.mortise.it.support.ServerUris;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;

/**
 * A cluster of three masters with a replica each. Slots move and replicas are promoted when a fault
 * does it, and not by themselves, however overloaded the machine is.
 */
final class ReshardedCluster implements ChaosServers {
  private static final Duration LAG = Duration.ofMillis(300);

  private final RedisCluster nodes =
      RedisCluster.builder().config("cluster-replica-no-failover", "yes").start();

  @Override
  public List<String> uris() {
    return List.of(ServerUris.of(nodes));
  }

  @Override
  public List<RedisServer> masters() {
    return nodes.masters();
  }

  @Override
  public RedisServer server(int index, String name) {
    return nodes.masterOf(name);
  }

  @Override
  public void promoteLaggingReplica(int index, String name) throws InterruptedException {
    nodes.awaitInSync();
    RedisServer former = nodes.masterOf(name);
    nodes.cutReplication(name);
    PlannedTime.pass(LAG); // the replica misses what is written now
    former.kill();
    nodes.failover(name);
    former.restart(); // as a replica
    nodes.restoreReplication();
    nodes.awaitOk();
  }

  @Override
  public void promoteReplicaInSync(int index, String name) {
    nodes.awaitInSync();
    nodes.failover(name);
  }

  @Override
  public void moveSlot(int index, String name) {
    RedisServer from = nodes.masterOf(name);
    List<RedisServer> others = nodes.masters().stream().filter(node -> node != from).toList();
    nodes.moveSlot(name, others.get(0));
  }

  @Override
  public void restore() {
    nodes.awaitOk();
  }

  @Override
  public void close() {
    nodes.close();
  }
}
