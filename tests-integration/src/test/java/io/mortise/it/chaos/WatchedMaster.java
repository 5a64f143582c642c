package io.mortise.it.chaos;

import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisSentinels;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A master with a replica, watched by three sentinels, which the clients ask where it is.
 *
 * <p>On a machine that is too busy a master may be silent for so long that they replace it,
 * although nothing has befallen it.
 */
final class WatchedMaster implements ChaosServers {
  private static final Duration MISSED = Duration.ofMillis(300);

  private final RedisSentinels nodes = RedisSentinels.start();

  @Override
  public List<String> uris() {
    return List.of(
        nodes.sentinelHostPorts().stream()
            .map(Object::toString)
            .collect(Collectors.joining(",", "redis-sentinel://", "#" + nodes.masterName())));
  }

  @Override
  public int servers() {
    return 1;
  }

  @Override
  public RedisServer server(int place) {
    return nodes.master();
  }

  @Override
  public FaultProxy proxy(int place) {
    throw new UnsupportedOperationException("sentinels name the servers, not the proxies");
  }

  @Override
  public void promoteLagging() throws InterruptedException {
    nodes.awaitOk(); // a replica that is not in order would not be promoted
    RedisServer former = nodes.master();
    nodes.cutReplication();
    PlannedTime.pass(MISSED); // what is written now the replica will not have
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
