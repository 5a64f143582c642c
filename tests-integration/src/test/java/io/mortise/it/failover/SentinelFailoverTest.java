package io.mortise.it.failover;

import io.mortise.it.support.ServerUris;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.RedisSentinels;
import io.mortise.testkit.RedisServer;
import org.junit.jupiter.api.AutoClose;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.UnifiedJedis;

/** Failovers of a master that sentinels watch. */
class SentinelFailoverTest extends FailoverContract {
  @AutoClose private final RedisSentinels servers = RedisSentinels.start();

  @Override
  String uri() {
    return ServerUris.of(servers);
  }

  @Override
  UnifiedJedis jedis() {
    return RedisSentinelClient.builder()
        .masterName(servers.masterName())
        .sentinels(servers.sentinelHostPorts())
        .clientConfig(DefaultJedisClientConfig.builder().timeoutMillis(1_000).build())
        .build();
  }

  @Override
  RedisServer master() {
    return servers.master();
  }

  @Override
  RedisServer failover() {
    servers.awaitInSync();
    return servers.failover();
  }

  @Override
  RedisServer replaceMaster() {
    return failover();
  }

  @Override
  RedisServer awaitNewMaster(RedisServer former) {
    return servers.awaitNewMaster(former);
  }

  @Override
  void cutReplication() {
    servers.awaitInSync();
    servers.cutReplication();
  }

  @Override
  boolean isSubscribedAt(RedisServer master) {
    return SharedRedis.subscribers(master, name) > 0;
  }
}
