package io.mortise.it.topology;

import io.mortise.it.support.ServerUris;
import io.mortise.testkit.RedisSentinels;
import java.nio.file.Path;
import redis.clients.jedis.RedisSentinelClient;

/** The master of sentinels, with a password: one client by URI, the other on a Jedis client. */
class SentinelTest extends EveryContract {
  private static final String PASSWORD = "s3cret";

  @Override
  Clients start(Path directory) {
    RedisSentinels servers = RedisSentinels.builder().password(PASSWORD).start();
    return Clients.byUriAndOnJedis(
        ServerUris.of(
            "redis-sentinel://:" + PASSWORD + "@",
            servers.sentinelHostPorts(),
            "/0?protocol=2#" + servers.masterName()),
        PASSWORD,
        config ->
            RedisSentinelClient.builder()
                .masterName(servers.masterName())
                .sentinels(servers.sentinelHostPorts())
                .clientConfig(config)
                .build(),
        servers::close);
  }
}
