package io.mortise.it.topology;

import io.mortise.core.LockClient;
import io.mortise.testkit.RedisCluster;
import java.nio.file.Path;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.RedisProtocol;

/** A cluster over TLS, for a user with the documented rights; RESP3 here, RESP2 there. */
class RestrictedClusterTest extends EveryContract {
  @Override
  Clients start(Path directory) throws Exception {
    RestrictedServers guarded = RestrictedServers.in(directory);
    RedisCluster servers =
        RedisCluster.builder()
            .replicas(0)
            .tls(guarded.certificates().certificate(), guarded.certificates().key())
            .user(
                RestrictedServers.USER, RestrictedServers.PASSWORD, RestrictedServers.rights(true))
            .start();
    RedisClusterClient here = jedis(servers, guarded, RedisProtocol.RESP3);
    RedisClusterClient there = jedis(servers, guarded, RedisProtocol.RESP2);
    return Clients.of(
        options -> LockClient.create(here, options),
        options -> LockClient.create(there, options),
        here::close,
        there::close,
        servers::close);
  }

  private static RedisClusterClient jedis(
      RedisCluster servers, RestrictedServers guarded, RedisProtocol protocol) {
    return RedisClusterClient.builder()
        .nodes(servers.hostPorts())
        .clientConfig(guarded.config(protocol))
        .build();
  }
}
