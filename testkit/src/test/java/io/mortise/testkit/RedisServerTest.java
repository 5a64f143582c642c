package io.mortise.testkit;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

@Timeout(60)
class RedisServerTest {

  @Test
  void answersWhenStartReturnsAndIsGoneAfterClose() throws Exception {
    RedisServer server = RedisServer.start();
    long pid = server.pid();
    try (server) {
      assertTrue(server.isRunning());
      assertTrue(server.version().matches("\\d+\\.\\d+\\.\\d+.*"), server.version());
      assertEquals("redis://127.0.0.1:" + server.port(), server.uri());
      assertEquals("OK", server.command("SET", "k", "v"));
      assertEquals("v", server.command("GET", "k"));
      assertNull(server.command("GET", "none"));
      assertEquals(List.of("v"), server.command("MGET", "k"));
      assertTrue(server.log().contains("Ready to accept connections"), server.log());
    }
    assertFalse(ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false));
    assertThrows(IllegalStateException.class, server::restart);
    assertThrows(IllegalStateException.class, () -> server.command("PING"));
    assertFalse(Files.exists(server.directory()));
    server.close();
  }

  @Test
  void aKilledServerComesBackEmptyOnItsPort() {
    try (RedisServer server = RedisServer.start()) {
      int port = server.port();
      long pid = server.pid();
      server.command("SET", "k", "v");

      server.kill();
      assertFalse(server.isRunning());
      assertThrows(JedisConnectionException.class, () -> server.command("PING"));

      server.restart();
      assertEquals(port, server.port());
      assertNotEquals(pid, server.pid());
      assertNull(server.command("GET", "k"));
    }
  }

  @Test
  void aStoppedServerSaysSoInItsLog() {
    try (RedisServer server = RedisServer.start()) {
      server.pause();
      server.stop();
      assertFalse(server.isRunning());
      assertTrue(server.log().contains("User requested shutdown"), server.log());
      server.restart();
      assertEquals("PONG", server.command("PING"));
    }
  }

  @Test
  void whatIsPersistedOutlivesARestart() {
    try (RedisServer server = RedisServer.builder().config("appendonly", "yes").start()) {
      server.command("SET", "k", "v");
      server.restart();
      assertEquals("v", server.command("GET", "k"));
    }
  }

  @Test
  void whatIsPersistedDoesNotOutliveAnEmptyRestart() {
    try (RedisServer server = RedisServer.builder().config("appendonly", "yes").start()) {
      server.command("SET", "k", "v");
      server.restartEmpty();
      assertNull(server.command("GET", "k"));
      server.command("SET", "k", "w");
      server.restart();
      assertEquals("w", server.command("GET", "k"));
    }
  }

  @Test
  void aPausedServerAnswersNothingUntilItIsResumed() {
    try (RedisServer server = RedisServer.start();
        Jedis jedis = new Jedis(server.host(), server.port(), 100)) {
      jedis.ping();
      server.pause();
      assertTrue(server.isRunning());
      assertThrows(JedisConnectionException.class, jedis::ping);
      server.resume();
      assertEquals("PONG", server.command("PING"));
    }
  }

  @Test
  void aPausedServerCanBeClosed() {
    RedisServer server = RedisServer.start();
    server.pause();
    server.close();
    assertFalse(server.isRunning());
  }

  @Test
  void thePasswordIsInTheUri() {
    String password = "s3cr et@/%\"x";
    try (RedisServer server = RedisServer.builder().config("RequirePass", password).start();
        Jedis byUri = new Jedis(server.uri());
        Jedis without = new Jedis(server.host(), server.port())) {
      assertEquals("PONG", byUri.ping());
      assertThrows(JedisDataException.class, without::ping);
      assertEquals("PONG", server.command("PING"));
    }
  }

  @Test
  void countsWhatWasCalledAndNothingOfItsOwn() {
    try (RedisServer server = RedisServer.builder().config("requirepass", "x").start();
        Jedis jedis =
            new Jedis(
                new HostAndPort(server.host(), server.port()),
                DefaultJedisClientConfig.builder().password("x").build())) {
      jedis.ping();
      server.resetStats();
      jedis.set("k", "v");
      jedis.get("k");
      jedis.eval("return redis.call('get', 'k')");
      assertEquals(Map.of("set", 1L, "get", 2L, "eval", 1L), server.commandStats());
      server.resetStats();
      assertEquals(Map.of(), server.commandStats());
    }
  }

  @Test
  void aReplicaFollowsItsMasterAndASentinelWatchesIt() {
    try (RedisServer master = RedisServer.start();
        RedisServer replica =
            RedisServer.builder()
                .config("replicaof", master.host(), Integer.toString(master.port()))
                .start();
        RedisServer sentinel =
            RedisServer.builder()
                .sentinel()
                .config("sentinel", "monitor", "m", master.host(), "" + master.port(), "1")
                .start()) {
      master.command("SET", "k", "v");
      await().ignoreExceptions().until(() -> "v".equals(replica.command("GET", "k")));
      assertEquals(
          List.of(master.host(), "" + master.port()),
          sentinel.command("SENTINEL", "get-master-addr-by-name", "m"));
      sentinel.restart();
    }
  }

  @Test
  void aPortThatIsTakenIsNamedAndAFreeOneIsFound() {
    try (RedisServer first = RedisServer.start()) {
      var refused =
          assertThrows(
              IllegalStateException.class, () -> RedisServer.builder().port(first.port()).start());
      assertTrue(refused.getMessage().contains("Address already in use"), refused.getMessage());
      assertEquals("PONG", first.command("PING"));
    }
  }

  @Test
  void manyServersAtOnceGetPortsOfTheirOwn() throws Exception {
    List<CompletableFuture<RedisServer>> starting =
        Stream.generate(() -> CompletableFuture.supplyAsync(RedisServer::start)).limit(6).toList();
    List<RedisServer> servers = new ArrayList<>();
    for (CompletableFuture<RedisServer> start : starting) {
      servers.add(start.get(30, TimeUnit.SECONDS));
    }
    assertEquals(6, servers.stream().map(RedisServer::port).distinct().count());
    servers.forEach(RedisServer::close);
  }

  @Test
  void whatIsWrongIsRefusedAtTheDoor(@TempDir Path directory) {
    RedisServer.Builder builder = RedisServer.builder();
    assertThrows(IllegalArgumentException.class, () -> builder.port(0));
    assertThrows(IllegalArgumentException.class, () -> builder.port(70_000));
    assertThrows(IllegalArgumentException.class, () -> builder.config("port", "1"));
    assertThrows(IllegalArgumentException.class, () -> builder.config("LogFile", "x"));
    assertThrows(
        IllegalArgumentException.class, () -> RedisCluster.builder().config("MasterAuth", "x"));
    assertThrows(IllegalArgumentException.class, () -> builder.config("save 60 1\nport", "1"));
    var missing =
        assertThrows(
            IllegalArgumentException.class,
            () -> RedisServer.builder().binary(directory.resolve("no-redis")).start());
    assertTrue(missing.getMessage().contains("no-redis"), missing.getMessage());
    var wrong =
        assertThrows(
            IllegalStateException.class,
            () -> RedisServer.builder().config("no-such-directive", "1").start());
    assertTrue(wrong.getMessage().contains("no-such-directive"), wrong.getMessage());
  }

  @Test
  void anInstalledServerIsFoundOnThePath(@TempDir Path directory) throws Exception {
    assertTrue(RedisBinary.onPath(directory.toString()).isEmpty());
    assertTrue(RedisBinary.onPath(null).isEmpty());
    Path file = Files.createFile(directory.resolve("redis-server"));
    assertTrue(RedisBinary.onPath(directory.toString()).isEmpty(), "it cannot be executed");
    assertTrue(file.toFile().setExecutable(true));
    assertEquals(file, RedisBinary.onPath("/nowhere::" + directory).orElseThrow());
  }

  @Test
  void theServerWeBringRuns() {
    Path unpacked = RedisBinary.embedded();
    assertEquals(unpacked, RedisBinary.embedded());
    try (RedisServer server = RedisServer.builder().binary(unpacked).start()) {
      assertTrue(server.version().startsWith("6.2."), server.version());
    }
  }

  @Test
  void whichServerWeBringIsKnownWithoutAskingAnotherProgram() {
    assertEquals("redis-server-6.2.6-v5-linux-amd64", RedisBinary.resourceName("Linux", "amd64"));
    assertEquals("redis-server-6.2.7-linux-arm64", RedisBinary.resourceName("Linux", "aarch64"));
    assertEquals("redis-server-6.2.7-linux-386", RedisBinary.resourceName("Linux", "i386"));
    assertEquals(
        "redis-server-6.2.6-v5-darwin-arm64", RedisBinary.resourceName("Mac OS X", "aarch64"));
    var none =
        assertThrows(
            IllegalStateException.class, () -> RedisBinary.resourceName("Linux", "riscv64"));
    assertTrue(none.getMessage().contains("Linux on riscv64; install Redis"), none.getMessage());
    assertThrows(IllegalStateException.class, () -> RedisBinary.resourceName("FreeBSD", "amd64"));
  }

  @Test
  void thePortOfTlsIsThatOfAServerThatSpeaksIt() {
    try (RedisServer server = RedisServer.start()) {
      String message = assertThrows(IllegalStateException.class, server::tlsUri).getMessage();
      assertTrue(message.endsWith("was started without tls(...)"), message);
    }
  }
}
