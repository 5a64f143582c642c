package io.mortise.it.topology;

import io.mortise.it.contract.Certificates;
import io.mortise.it.contract.Rights;
import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.List;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisProtocol;

/**
 * Servers that speak TLS, for a user with exactly the documented rights.
 *
 * @param certificates of the servers
 */
record RestrictedServers(Certificates certificates) {
  static final String USER = "orders-service";
  static final String PASSWORD = "s3cret";

  /** How the contracts begin the names of their locks. */
  private static final String NAMES = "contract:";

  static RestrictedServers in(Path directory)
      throws IOException, GeneralSecurityException, InterruptedException {
    return new RestrictedServers(Certificates.make(directory, "ip:127.0.0.1"));
  }

  /** What ACL SETUSER is told of the user. */
  static String[] rights(boolean cluster) throws IOException {
    List<String> rules = Rights.ofAllFamilies(NAMES);
    if (cluster) {
      try (RedisServer server = RedisServer.start()) {
        rules.addAll(Rights.onACluster(server));
      }
    }
    return rules.toArray(String[]::new);
  }

  /** As that user, over TLS. */
  JedisClientConfig config(RedisProtocol protocol) {
    return trusting(protocol).user(USER).password(PASSWORD).build();
  }

  /** For sentinels, which know no users here. */
  JedisClientConfig sentinelConfig() {
    return trusting(RedisProtocol.RESP3).build();
  }

  private DefaultJedisClientConfig.Builder trusting(RedisProtocol protocol) {
    return DefaultJedisClientConfig.builder()
        .protocol(protocol)
        .sslOptions(certificates.trusting());
  }
}
