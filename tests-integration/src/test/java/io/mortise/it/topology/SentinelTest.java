package io.mortise.it.topology;

import io.mortise.core.LockClient;
import io.mortise.testkit.RedisSentinels;
import java.nio.file.Path;
import java.util.stream.Collectors;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.RedisSentinelClient;

/** The master of sentinels, with a password: by URI and RESP2 here, on the user's Jedis there. */
class SentinelTest extends EveryContract {
  private static final String PASSWORD = "s3cret";

  @Override
  Clients start(Path directory) {
    RedisSentinels servers = RedisSentinels.builder().password(PASSWORD).start();
    String uri =
        servers.sentinelHostPorts().stream()
            .map(Object::toString)
            .collect(
                Collectors.joining(
                    ",",
                    "redis-sentinel://:" + PASSWORD + "@",
                    "/0?protocol=2#" + servers.masterName()));
    RedisSentinelClient jedis =
        RedisSentinelClient.builder()
            .masterName(servers.masterName())
            .sentinels(servers.sentinelHostPorts())
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
