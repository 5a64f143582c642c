package io.mortise.it.topology;

import io.mortise.core.LockClient;
import io.mortise.testkit.RedisServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisProtocol;

/** One server over TLS, for a user with the documented rights; RESP3 here, RESP2 there. */
class RestrictedStandaloneTest extends EveryContract {
  @Override
  Clients start(Path directory) throws Exception {
    RestrictedServers guarded = RestrictedServers.in(directory);
    List<String> user =
        new ArrayList<>(List.of(RestrictedServers.USER, "on", ">" + RestrictedServers.PASSWORD));
    user.addAll(List.of(RestrictedServers.rights(false)));
    RedisServer server =
        RedisServer.builder()
            .tls(guarded.certificates().certificate(), guarded.certificates().key())
            .config("user", user.toArray(String[]::new))
            .start();
    RedisClient here = jedis(server, guarded, RedisProtocol.RESP3);
    RedisClient there = jedis(server, guarded, RedisProtocol.RESP2);
    return Clients.of(
        options -> LockClient.create(here, options),
        options -> LockClient.create(there, options),
        here::close,
        there::close,
        server::close);
  }

  private static RedisClient jedis(
      RedisServer server, RestrictedServers guarded, RedisProtocol protocol) {
    return RedisClient.builder()
        .hostAndPort(new HostAndPort(server.host(), server.tlsPort()))
        .clientConfig(guarded.config(protocol))
        .build();
  }
}
