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
<<<<<<< HEAD
            .tls(guarded.certificates().certificate(), guarded.certificates().key())
            .user(
                RestrictedServers.USER, RestrictedServers.PASSWORD, RestrictedServers.rights(false))
=======
            .tls(user.certificate(), user.key())
            .user(RestrictedUser.NAME, RestrictedUser.PASSWORD, RestrictedUser.rights())
>>>>>>> 74627995f96dc829624ee65bba88a4a181509ccc
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
