package io.mortise.it.topology;

import io.mortise.it.support.ServerUris;
import io.mortise.testkit.RedisCluster;
import java.nio.file.Path;
import redis.clients.jedis.RedisClusterClient;

/** A cluster with a password: one client by URI, the other on a Jedis client. */
class ClusterTest extends EveryContract {
  private static final String PASSWORD = "s3cret";

  @Override
  Clients start(Path directory) {
    RedisCluster servers = RedisCluster.builder().replicas(0).password(PASSWORD).start();
    return Clients.byUriAndOnJedis(
        ServerUris.of("redis://:" + PASSWORD + "@", servers.hostPorts(), "?protocol=2"),
        PASSWORD,
        config ->
            RedisClusterClient.builder().nodes(servers.hostPorts()).clientConfig(config).build(),
        servers::close);
  }
}
