package io.mortise.it.topology;

import io.mortise.it.contract.Certificates;
import io.mortise.it.contract.Rights;
import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisProtocol;

/**
 * A user with exactly the documented rights, which connects over TLS.
 *
 * @param certificates of the servers
 */
record RestrictedUser(Certificates certificates) {
  static final String NAME = "orders-service";
  static final String PASSWORD = "s3cret";

  /** How the contracts begin the names of their locks. */
  private static final String LOCKS = "contract:";

  static RestrictedUser create(Path directory) throws Exception {
    return new RestrictedUser(Certificates.create(directory, "ip:127.0.0.1"));
  }

  Path certificate() {
    return certificates.certificate();
  }

  Path key() {
    return certificates.key();
  }

  /** Returns the rules of ACL SETUSER. */
  static String[] rights() throws IOException {
    return Rights.ofAllFamilies(LOCKS).toArray(String[]::new);
  }

  /** Returns the rules of ACL SETUSER on a cluster. */
  static String[] clusterRights() throws IOException {
    List<String> rules = Rights.ofAllFamilies(LOCKS);
    try (RedisServer server = RedisServer.start()) {
      rules.addAll(Rights.onACluster(server));
    }
    return rules.toArray(String[]::new);
  }

  /** Returns the configuration of a Jedis client as that user. */
  JedisClientConfig config(RedisProtocol protocol) {
    return tls(protocol).user(NAME).password(PASSWORD).build();
  }

  /** Returns the configuration for sentinels, which know no users here. */
  JedisClientConfig sentinelConfig() {
    return tls(RedisProtocol.RESP3).build();
  }

  private DefaultJedisClientConfig.Builder tls(RedisProtocol protocol) {
    return DefaultJedisClientConfig.builder()
        .protocol(protocol)
        .sslOptions(certificates.trusting());
  }
}
