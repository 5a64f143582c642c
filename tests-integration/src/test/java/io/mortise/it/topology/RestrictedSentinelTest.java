package io.mortise.it.topology;

import io.mortise.testkit.RedisSentinels;
import java.nio.file.Path;
import redis.clients.jedis.RedisSentinelClient;

/**
 * Sentinels over TLS, for a user with the documented rights; one client each for RESP3 and RESP2.
 */
class RestrictedSentinelTest extends EveryContract {
  @Override
  Clients start(Path directory) throws Exception {
    RestrictedUser user = RestrictedUser.create(directory);
    RedisSentinels servers =
        RedisSentinels.builder()
            .tls(user.certificate(), user.key())
            .user(RestrictedUser.NAME, RestrictedUser.PASSWORD, RestrictedUser.rights())
            .start();
    return Clients.onJedis(
        protocol ->
            RedisSentinelClient.builder()
                .masterName(servers.masterName())
                .sentinels(servers.sentinelHostPorts())
                .clientConfig(user.config(protocol))
                .sentinelClientConfig(user.sentinelConfig())
                .build(),
        servers::close);
  }
}
