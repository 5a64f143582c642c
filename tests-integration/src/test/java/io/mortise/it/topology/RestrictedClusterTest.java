package io.mortise.it.topology;

import io.mortise.testkit.RedisCluster;
import java.nio.file.Path;
import redis.clients.jedis.RedisClusterClient;

/**
 * A cluster over TLS, for a user with the documented rights; one client each for RESP3 and RESP2.
 */
class RestrictedClusterTest extends EveryContract {
  @Override
  Clients start(Path directory) throws Exception {
    RestrictedUser user = RestrictedUser.create(directory);
    RedisCluster servers =
        RedisCluster.builder()
            .replicas(0)
            .tls(user.certificate(), user.key())
            .user(RestrictedUser.NAME, RestrictedUser.PASSWORD, RestrictedUser.clusterRights())
            .start();
    return Clients.onJedis(
        protocol ->
            RedisClusterClient.builder()
                .nodes(servers.hostPorts())
                .clientConfig(user.config(protocol))
                .build(),
        servers::close);
  }
}
