package io.mortise.it.topology;

import io.mortise.core.LockClient;
import io.mortise.testkit.RedisSentinels;
import java.nio.file.Path;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.RedisSentinelClient;

/** Sentinel and master over TLS, for a user with the documented rights; RESP3 here, RESP2 there. */
class RestrictedSentinelTest extends EveryContract {
  @Override
  Clients start(Path directory) throws Exception {
    RestrictedServers guarded = RestrictedServers.in(directory);
    RedisSentinels servers =
        RedisSentinels.builder()
            .tls(guarded.certificates().certificate(), guarded.certificates().key())
            .user(
                RestrictedServers.USER, RestrictedServers.PASSWORD, RestrictedServers.rights(false))
            .start();
    RedisSentinelClient here = jedis(servers, guarded, RedisProtocol.RESP3);
    RedisSentinelClient there = jedis(servers, guarded, RedisProtocol.RESP2);
    return Clients.of(
        options -> LockClient.create(here, options),
        options -> LockClient.create(there, options),
        here::close,
        there::close,
        servers::close);
  }

  private static RedisSentinelClient jedis(
      RedisSentinels servers, RestrictedServers guarded, RedisProtocol protocol) {
    return RedisSentinelClient.builder()
        .masterName(servers.masterName())
        .sentinels(servers.sentinelHostPorts())
        .clientConfig(guarded.config(protocol))
        .sentinelClientConfig(guarded.sentinelConfig())
        .build();
  }
}
