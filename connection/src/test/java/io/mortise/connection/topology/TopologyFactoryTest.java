package io.mortise.connection.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.pool.ConnectionSettings.Security;
import io.mortise.connection.pool.ConnectionSettings.Tls;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestCalls;
import io.mortise.connection.testing.TestSettings;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.providers.ConnectionProvider;

@Timeout(60)
class TopologyFactoryTest {
  private static final ConnectionSettings OPTIONS = TestSettings.DEFAULTS;
  private static final WorkerPool WORKERS = new WorkerPool("test");

  /** The client's name and version, and the question which server it is. */
  private static final Set<String> NO_CREDENTIALS = Set.of("CLIENT", "INFO");

  private static Topology servers(String uri) {
    return TopologyFactory.create(uri, OPTIONS, WORKERS);
  }

  /** Returns what a connection by that URI sends before its first command. */
  private static List<String> greeting(String prefix, String suffix) throws CommandException {
    try (RespServer server = new RespServer(command -> "+PONG\r\n");
        Topology servers = servers("redis://" + prefix + server.address() + suffix)) {
      assertEquals("PONG", TestCalls.ping(servers, 20_000_000_000L));
      return server.greeted().stream()
          .filter(command -> !NO_CREDENTIALS.contains(command.get(0)))
          .map(command -> String.join(" ", command))
          .toList();
    }
  }

  @Test
  void withoutCredentialsAndDatabaseNeitherIsNamed() throws Exception {
    assertEquals(List.of("HELLO 3"), greeting("", ""));
    assertEquals(List.of("HELLO 3"), greeting("", "/"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        ":secret@          | AUTH default secret",
        "joe:secret@       | AUTH joe secret",
        "joe:a%40b%2Fc%23@ | AUTH joe a@b/c#", // @ / # cannot stand there as they are
        "joe:a:b@          | AUTH joe a:b",
        "j%C3%BC:s%20p@    | AUTH jü s p",
        "joe:1+1@          | AUTH joe 1+1",
        "te%3Aam:a:b@      | AUTH te:am a:b",
        "my_user:secret@   | AUTH my_user secret",
      })
  void userAndPasswordAreThoseOfTheUriDecoded(String credentials, String auth) throws Exception {
    assertEquals(List.of("HELLO 3 " + auth), greeting(credentials, ""));
  }

  @Test
  void thePathIsTheDatabase() throws Exception {
    assertEquals(List.of("HELLO 3", "SELECT 3"), greeting("", "/3"));
    assertEquals(List.of("HELLO 3 AUTH default pw", "SELECT 12"), greeting(":pw@", "/12"));
  }

  @ParameterizedTest
  @CsvSource({
    "redis://example, example:6379",
    "redis://example:, example:6379",
    "redis://example:7000/3, example:7000",
    "rediss://user:pw@example, example:6379",
    "REDIS://example, example:6379",
    "redis://example:65535, example:65535",
    "redis://order_redis, order_redis:6379",
    "redis://order_redis:7000/3?protocol=2, order_redis:7000",
    "redis://joe:p_w@_a.b_c.net:7000, _a.b_c.net:7000",
    "redis://0_redis_1/3, 0_redis_1:6379",
    "redis://[::1], [::1]:6379",
    "redis://joe:pw@[::1]:7000/3, [::1]:7000",
    "redis://[fe80::1:2%eth0.1]:7000, [fe80::1:2%eth0.1]:7000",
    "redis://[::ffff:10.0.0.1], [::ffff:10.0.0.1]:6379",
    "redis://10.0.0.255:7000, 10.0.0.255:7000",
    "redis://1, 1:6379",
    "redis://1.a-1.example.:06380, 1.a-1.example.:6380",
  })
  void theDefaultPortIs6379(String uri, String address) {
    try (Topology servers = servers(uri)) {
      assertEquals(address, servers.toString());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "redis-sentinel://a,b:7000,c/3#m | the master 'm' of sentinels [a:26379, b:7000, c:26379]",
        "REDISS-sentinel://joe:pw@a#orders | the master 'orders' of sentinels [a:26379]",
        "redis-sentinel://a,a:26379?protocol=2#m | the master 'm' of sentinels [a:26379]",
        "redis://b,a:7000 | cluster of [a:7000, b:6379]",
        "rediss://joe:pw@b,a/0 | cluster of [a:6379, b:6379]",
        "redis-cluster://a:7000 | cluster of [a:7000]",
        "REDISS-CLUSTER://joe:pw@a?protocol=2 | cluster of [a:6379]",
        "redis://joe:pw@my_a,my_b:7000 | cluster of [my_a:6379, my_b:7000]",
        "redis-sentinel://my_a,b:7000,[::1]/3#m | the master 'm' of sentinels [my_a:26379, b:7000,"
            + " [::1]:26379]",
      })
  void severalServersAreNamedTogether(String uri, String address) {
    try (Topology servers = servers(uri)) {
      assertEquals(address, servers.toString());
    }
  }

  @Test
  void credentialsAndDatabaseBesideAHostWithUnderscoresCount() {
    RedisUri uri = RedisUri.parse("redis://joe:s%40cret@order_redis:7000/3");
    JedisClientConfig config = uri.config(Security.NONE).build();

    assertEquals("joe", config.getUser());
    assertEquals("s@cret", config.getPassword());
    assertEquals(3, config.getDatabase());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://my_user:p_w@example:7000/3",
        "rediss://my_user:p_w@example:7000/3",
        "redis-cluster://my_user:p_w@example:7000",
        "rediss-cluster://my_user:p_w@example:7000",
        "redis-sentinel://my_user:p_w@example:7000/3#m",
        "rediss-sentinel://my_user:p_w@example:7000/3#m",
      })
  void aUserWithUnderscoresIsNoHost(String text) {
    RedisUri uri = RedisUri.parse(text);
    JedisClientConfig config = uri.config(Security.NONE).build();

    assertEquals(Set.of(new HostAndPort("example", 7000)), uri.hosts());
    assertEquals(List.of("my_user", "p_w"), List.of(config.getUser(), config.getPassword()));
  }

  /** The JVM accepts no certificate for it, whatever is in the certificate. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "rediss://joe:s3cret@order_redis",
        "rediss-cluster://joe:s3cret@example,order_redis:7000",
        "rediss-sentinel://joe:s3cret@order_redis#m"
      })
  void aHostWithUnderscoresIsRefusedWithTls(String text) {
    RedisUri uri = RedisUri.parse(text);
    String message =
        assertThrows(IllegalArgumentException.class, () -> uri.config(Security.NONE)).getMessage();

    assertTrue(message.contains("'order_redis', because its name has '_'"), message);
    assertFalse(message.contains("s3cret"), message);
  }

  @ParameterizedTest
  @CsvSource({
    "redis://example, a context of TLS is for a URI with rediss",
    "redis-cluster://joe:s3cret@example, a context of TLS is for a URI with rediss",
    "redis-sentinel://joe:s3cret@example#m, a context of TLS is for a URI with rediss",
    "rediss://joe:s3cret@example, a password of sentinels is for a URI of redis-sentinel://",
    "rediss-cluster://example, a password of sentinels is for a URI of redis-sentinel://",
  })
  void securityThatWouldHaveNoEffectIsRefused(String text, String reason) throws Exception {
    RedisUri uri = RedisUri.parse(text);
    Tls tls = new Tls(SSLContext.getDefault(), List.of(), List.of());
    String message =
        assertThrows(
                IllegalArgumentException.class,
                () -> uri.config(new Security(tls, "ann", "s3cret")))
            .getMessage();
    assertTrue(message.contains(reason), message);
    assertFalse(message.contains("s3cret"), message);
  }

  @Test
  void theUserOfTheSentinelsIsNotThatOfTheMaster() {
    RedisUri uri = RedisUri.parse("redis-sentinel://joe:pw@example/3#m");
    Security security = new Security(null, "ann", "s3cret");
    JedisClientConfig sentinels = uri.sentinelConfig(security).build();
    JedisClientConfig master = uri.config(security).build();

    assertEquals(List.of("ann", "s3cret"), List.of(sentinels.getUser(), sentinels.getPassword()));
    assertEquals(List.of("joe", "pw"), List.of(master.getUser(), master.getPassword()));
    assertFalse(security.toString().contains("s3cret"), security.toString());
  }

  /** Jedis would log a warning at each connection to a sentinel. */
  @Test
  void noProtocolIsNegotiatedWithSentinels() {
    RedisUri uri = RedisUri.parse("redis-sentinel://example?protocol=3#m");
    JedisClientConfig sentinels = uri.sentinelConfig(new Security(null, null, null)).build();

    assertFalse(sentinels.isAutoNegotiateProtocol());
    assertNull(sentinels.getRedisProtocol());
  }

  @Test
  void redissSpeaksTls() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Topology servers = servers("rediss://127.0.0.1:" + server.getLocalPort())) {
      BackgroundCall<String> client =
          BackgroundCall.start(() -> TestCalls.ping(servers, 20_000_000_000L));
      try (Socket connection = server.accept()) {
        assertEquals(0x16, connection.getInputStream().read(), "a TLS handshake record");
      }
      assertThrows(Exception.class, client::get);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "localhost:6379           | a Redis URI starts with redis://, redis-cluster:// or redis-sentinel://, or with rediss for TLS, not with"
            + " 'localhost:'",
        "http://example           | a Redis URI starts with redis://, redis-cluster:// or redis-sentinel://, or with rediss for TLS, not with"
            + " 'http:'",
        "example                  | a Redis URI starts with redis://, redis-cluster:// or redis-sentinel://, or with rediss for TLS",
        "''                       | a Redis URI starts with redis://, redis-cluster:// or redis-sentinel://, or with rediss for TLS",
        "redis://                 | not a URI like redis://user:password@host:6379/0",
        "redis://exa mple         | not a URI like redis://user:password@host:6379/0",
        "redis:example            | the Redis URI names no host",
        "redis:///3               | the Redis URI names no host",
        "redis://:6379            | the Redis URI names no host",
        "redis://example/x        | is the number of a database, not '/x'",
        "redis://example/-1       | is the number of a database, not '/-1'",
        "redis://example/1/2      | is the number of a database, not '/1/2'",
        "redis://example/99999    | is the number of a database, not '/99999'",
        "redis://joe@example      | the Redis URI names a user without a password",
        "redis://joe%3Apw@example | the Redis URI names a user without a password",
        "redis://example:0        | the port of a Redis URI is from 1 to 65535, not 0",
        "redis://example:65536    | the port of a Redis URI is from 1 to 65535, not 65536",
        "redis://my_host:x        | the Redis URI names no host, or one with a character",
        "redis://my_host:0        | the port of a Redis URI is from 1 to 65535, not 0",
        "redis://my_host/x        | is the number of a database, not '/x'",
        "redis://my_h$st:6379     | the Redis URI names no host, or one with a character",
        "redis://my_.             | the Redis URI names no host, or one with a character",
        "redis://::1:6379         | an IPv6 address is in brackets",
        "redis://[::1             | not a URI like redis://user:password@host:6379/0",
        "redis://[]               | an IPv6 address is in brackets",
        "redis://[::1::]          | an IPv6 address is in brackets",
        "redis://[::1%]           | an IPv6 address is in brackets",
        "redis://[::1]7000        | an IPv6 address is in brackets",
        "redis://[10.0.0.1]       | an IPv6 address is in brackets",
        "redis://10.0.0.256       | the Redis URI names no host, or one with a character",
        "redis://10.0.0           | the Redis URI names no host, or one with a character",
        "redis://10.0.0.01        | an IPv4 address has no leading zeros",
        "redis-cluster:example    | the Redis URI names no host",
        "redis://example.1        | the Redis URI names no host, or one with a character",
        "redis://-example         | the Redis URI names no host, or one with a character",
        "redis://example-.net     | the Redis URI names no host, or one with a character",
        "redis://example..net     | the Redis URI names no host, or one with a character",
        "redis://exämple          | the Redis URI names no host, or one with a character",
        "redis://example:-1       | a port that is no number",
        "redis://example:99999999999 | a port that is no number",
        "redis://example?protocol=4 | protocol=2 or protocol=3, not 'protocol'",
        "redis-sentinel://example   | ends with '#' and the name of the master",
        "redis-sentinel://example#  | ends with '#' and the name of the master",
        "redis-sentinel://a,#m      | not a URI like redis://user:password@host:6379/0",
        "redis-sentinel://#m        | not a URI like redis://user:password@host:6379/0",
        "redis-sentinel://a,b:0#m   | the port of a Redis URI is from 1 to 65535, not 0",
        "redis://a,b/3              | a Redis Cluster has the database 0 alone, not '/3'",
        "redis://a,,b               | not a URI like redis://user:password@host:6379/0",
        "redis://a,b:0              | the port of a Redis URI is from 1 to 65535, not 0",
        "redis-cluster://           | not a URI like redis://user:password@host:6379/0",
        "redis-sentinel://a/x#m     | is the number of a database, not '/x'",
        "redis://example?timeout=2s | protocol=2 or protocol=3, not 'timeout'; other settings are"
            + " in LockOptions",
        "redis://example?protocol=3&db=1 | protocol=2 or protocol=3, not 'db'",
        "redis://example?protocol   | the query of a Redis URI is protocol=2 or protocol=3",
        "redis://example?           | the query of a Redis URI is protocol=2 or protocol=3",
        "redis-cluster://a,b?ssl=true | protocol=2 or protocol=3, not 'ssl'",
        "redis-sentinel://a?db=1#m  | protocol=2 or protocol=3, not 'db'",
        "redis://example#m          | for the master of sentinels",
        "redis-cluster://a,b#m      | for the master of sentinels",
        "redis://:p@ss/w#rd@example | percent-encoded",
        "redis://joe:a@b@example    | percent-encoded",
        "redis://:a/b@example       | percent-encoded",
        "redis://:a?b@example       | percent-encoded",
        "redis://:a#b@example       | percent-encoded",
        "redis://:a%b@example       | percent-encoded",
        "redis://:a b@example       | percent-encoded",
        "redis://:a\u00a0b@example | percent-encoded",
        "joe@redis://example        | a Redis URI starts with redis://",
        "redis-sentinel://:a/b@c#m  | percent-encoded",
        "redis-cluster://:a#b@c     | percent-encoded",
      })
  void aBadUriIsRefusedWithTheReason(String uri, String reason) {
    String message = assertThrows(IllegalArgumentException.class, () -> servers(uri)).getMessage();
    assertTrue(message.contains(reason), message);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://joe:s3cret pw@example",
        "redis://joe:s3cret@my_host:x",
        "redis://joe:s3cret@my_h$st",
        "redis://joe:s3cret@example:99999",
        "redis://joe:s3cret@example/x",
        "http://joe:s3cret@example",
        "redis-sentinel://joe:s3cret@example",
        "redis://joe:s3cret@example,b:0",
        "redis-cluster://joe:s3cret@my_host,b:0",
        "redis-sentinel://joe:s3cret@example,b:0#m",
        "redis://joe:x/s3cret@example",
        "redis://joe:x#s3cret@example",
        "redis://joe:x?s3cret@example",
        "redis://joe:x@s3cret@example",
        "redis://joe:s3cret@my_host/x",
        "redis://joe:p@s3cret/w#rd@example:6379/0",
        "redis-sentinel://joe:p/s3cret@example#m",
        "redis-cluster://joe:p#s3cret@example",
        "s3cret:x@example",
        "redis://example?s3cret",
        "redis://example?password=s3cret",
      })
  void aPasswordIsInNoMessage(String uri) {
    Throwable thrown = assertThrows(IllegalArgumentException.class, () -> servers(uri));
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      assertFalse(t.toString().contains("s3cret"), t.toString());
    }
  }

  @Test
  void theConnectionsOfAGivenClientAreUsedAndStayOpen() throws Exception {
    try (RespServer server = new RespServer(command -> "+PONG\r\n");
        WorkerPool workers = new WorkerPool("test");
        RedisClient jedis = RedisClient.create(server.uri())) {
      Topology servers = TopologyFactory.create(jedis, OPTIONS, workers);
      TestCalls.ping(servers, 20_000_000_000L);
      assertEquals(1, jedis.getPool().getNumIdle());

      servers.close();

      assertEquals("PONG", jedis.ping());
    }
  }

  @Test
  void aClientOfAnotherTypeIsRefusedByName() {
    try (UnifiedJedis other = new OtherJedis();
        WorkerPool workers = new WorkerPool("test")) {
      String message =
          assertThrows(
                  IllegalArgumentException.class,
                  () -> TopologyFactory.create(other, OPTIONS, workers))
              .getMessage();
      assertTrue(message.contains("redis.clients.jedis.RedisClient"), message);
      assertTrue(message.endsWith("not from a " + OtherJedis.class.getName()), message);
    }
  }

  private static final class OtherJedis extends UnifiedJedis {
    OtherJedis() {
      super((ConnectionProvider) null, RedisProtocol.RESP2);
    }

    @Override
    public void close() {
      // It has nothing.
    }
  }
}
