package io.mortise.it.chaos;

import io.mortise.it.support.ServerUris;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import io.mortise.testkit.RedisSentinels;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;

/**
 * A master with a replica, which clients find through three sentinels. A proxy is in front of each
 * sentinel, for the clients alone.
 *
 * <p>On an overloaded machine a master may be silent for so long that the sentinels replace it
 * although no fault has struck it.
 */
final class WatchedMaster implements ChaosServers {
  private static final Duration LAG = Duration.ofMillis(300);

  private final RedisSentinels nodes = RedisSentinels.start();
  private final List<FaultProxy> sentinels =
      nodes.sentinels().stream().map(FaultProxy::to).toList();

  @Override
  public List<String> uris() {
    return List.of(
        ServerUris.of(
            "redis-sentinel://",
            sentinels.stream().map(proxy -> proxy.host() + ":" + proxy.port()).toList(),
            "#" + nodes.masterName()));
  }

  @Override
  public List<RedisServer> masters() {
    return List.of(nodes.master());
  }

  @Override
  public RedisServer server(int index, String name) {
    return nodes.master();
  }

  @Override
  public void silenceDirectory() {
    for (FaultProxy sentinel : sentinels) {
      sentinel.holdNewConnections();
      sentinel.blackhole(Direction.TO_SERVER);
      sentinel.blackhole(Direction.TO_CLIENT);
    }
  }

  @Override
  public void restoreDirectory() {
    sentinels.forEach(FaultProxy::restore);
  }

  @Override
  public void promoteLaggingReplica(int index, String name) throws InterruptedException {
    nodes.awaitOk(); // otherwise the replica may not be promoted
    RedisServer former = nodes.master();
    nodes.cutReplication();
    PlannedTime.pass(LAG); // the replica misses what is written now
    former.kill();
    nodes.awaitNewMaster(former);
    nodes.restoreReplication();
    nodes.rejoin(former);
  }

  @Override
  public long promotions() {
    RedisServer sentinel = nodes.sentinels().get(0);
    List<?> fields = (List<?>) sentinel.command("SENTINEL", "MASTER", nodes.masterName());
    return Long.parseLong((String) fields.get(fields.indexOf("config-epoch") + 1));
  }

  @Override
  public void restore() {
    restoreDirectory();
    nodes.awaitOk();
  }

  @Override
  public void close() {
    sentinels.forEach(FaultProxy::close);
    nodes.close();
  }
}
