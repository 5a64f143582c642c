package io.mortise.it.sentinel;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.testkit.RedisSentinels;
import java.time.Duration;
import java.util.stream.Collectors;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisSentinelClient;

/** Clients of a master that sentinels watch. */
final class SentinelClients {
  static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofSeconds(30))
          .commandTimeout(Duration.ofSeconds(1))
          .outageTimeout(Duration.ofSeconds(60))
          .build();

  private SentinelClients() {}

  static String uri(RedisSentinels servers) {
    return servers.sentinelHostPorts().stream()
        .map(Object::toString)
        .collect(Collectors.joining(",", "redis-sentinel://", "#" + servers.masterName()));
  }

  static LockClient client(RedisSentinels servers) {
    return LockClient.create(uri(servers), OPTIONS);
  }

  /** A Jedis client of the user's own. */
  static RedisSentinelClient jedis(RedisSentinels servers) {
    return RedisSentinelClient.builder()
        .masterName(servers.masterName())
        .sentinels(servers.sentinelHostPorts())
        .clientConfig(DefaultJedisClientConfig.builder().timeoutMillis(1_000).build())
        .build();
  }
}
