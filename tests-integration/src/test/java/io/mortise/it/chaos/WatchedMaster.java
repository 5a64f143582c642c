package io.mortise.it.chaos;

import io.mortise.it.support.ServerUris;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisSentinels;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;

/**
 * A master with a replica, which clients find through three sentinels.
 *
 * <p>On an overloaded machine a master may be silent for so long that the sentinels replace it
 * although no fault has struck it.
 */
final class WatchedMaster implements ChaosServers {
  private static final Duration LAG = Duration.ofMillis(300);

  private final RedisSentinels nodes = RedisSentinels.start();

  @Override
  public List<String> uris() {
    return List.of(ServerUris.of(nodes));
  }

  @Override
  public int count() {
    return 1;
  }

  @Override
  public RedisServer server(int index) {
    return nodes.master();
  }

  @Override
  public FaultProxy proxy(int index) {
    throw new UnsupportedOperationException("sentinels name the servers, not the proxies");
  }

  @Override
  public void promoteLaggingReplica() throws InterruptedException {
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
    nodes.awaitOk();
  }

  @Override
  public void close() {
    nodes.close();
  }
}
