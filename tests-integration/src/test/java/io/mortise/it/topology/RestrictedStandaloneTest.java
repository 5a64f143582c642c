package io.mortise.it.topology;

import io.mortise.testkit.RedisServer;
import java.nio.file.Path;
import java.util.stream.Stream;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;

/**
 * One server over TLS, for a user with the documented rights; one client each for RESP3 and RESP2.
 */
class RestrictedStandaloneTest extends EveryContract {
  @Override
  Clients start(Path directory) throws Exception {
    RestrictedUser user = RestrictedUser.create(directory);
    Stream<String> login = Stream.of(RestrictedUser.NAME, "on", ">" + RestrictedUser.PASSWORD);
    RedisServer server =
        RedisServer.builder()
            .tls(user.certificate(), user.key())
            .config(
                "user",
                Stream.concat(login, Stream.of(RestrictedUser.rights())).toArray(String[]::new))
            .start();
    return Clients.onJedis(
        protocol ->
            RedisClient.builder()
                .hostAndPort(new HostAndPort(server.host(), server.tlsPort()))
                .clientConfig(user.config(protocol))
                .build(),
        server::close);
  }
}
