package io.mortise.it.topology;

import io.mortise.core.LockClient;
import io.mortise.testkit.RedisCluster;
import java.nio.file.Path;
import java.util.stream.Collectors;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.RedisProtocol;

/** A cluster with a password: by URI and RESP2 here, on the user's Jedis there. */
class ClusterTest extends EveryContract {
  private static final String PASSWORD = "s3cret";

  @Override
  Clients start(Path directory) {
    RedisCluster servers = RedisCluster.builder().replicas(0).password(PASSWORD).start();
    String uri =
        servers.hostPorts().stream()
            .map(Object::toString)
            .collect(Collectors.joining(",", "redis://:" + PASSWORD + "@", "?protocol=2"));
    RedisClusterClient jedis =
        RedisClusterClient.builder()
            .nodes(servers.hostPorts())
            .clientConfig(
                DefaultJedisClientConfig.builder()
                    .password(PASSWORD)
                    .protocol(RedisProtocol.RESP3)
                    .build())
            .build();
    return Clients.of(
        options -> LockClient.create(uri, options),
        options -> LockClient.create(jedis, options),
        jedis::close,
        servers::close);
  }
}
