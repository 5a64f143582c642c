package io.mortise.it.connections;

import static io.mortise.it.connections.ErrorContract.assertMessage;
import static io.mortise.it.connections.ErrorContract.assertReported;
import static io.mortise.it.connections.ErrorContract.client;
import static io.mortise.it.support.Eventually.until;
import static io.mortise.it.support.SharedRedis.warm;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisException;

/** Each fault is reported with its reason and its remedy. */
@Timeout(60)
@Tag("redis-version")
class ReportedFaultsTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final Duration LONG = Duration.ofSeconds(50);
  private static final Duration SHORT = Duration.ofMillis(100);

  private static final String SILENCE =
      "; look at the load of the server and at the network, or raise LockOptions.commandTimeout or"
          + " the wait";

  private final String name = Names.fresh();

  @Test
  void aRefusedConnection() throws Exception {
    try (RedisServer gone = RedisServer.start()) {
      gone.stop();
      assertReported(
          name,
          gone.uri(),
          Reason.UNREACHABLE,
          "refuses the connection; see whether the server runs");
    }
  }

  @Test
  void aReadOnlyReplica() throws Exception {
    redis.command("REPLICAOF", "127.0.0.1", "1");
    try {
      assertReported(
          name,
          redis.uri(),
          Reason.READ_ONLY,
          "replica",
          "; name its master, or the sentinels that watch it");
    } finally {
      redis.command("REPLICAOF", "NO", "ONE");
    }
    assertFalse(redis.exists(name));
  }

  @Test
  void aReplicaThatIsPromotedWhileAThreadWaits() throws Exception {
    redis.command("REPLICAOF", "127.0.0.1", "1");
    try (LockClient client = client(redis.uri())) {
      RedisLock lock = new RedisLock(client, name);
      AsyncCall<Boolean> waiter = AsyncCall.start(() -> lock.tryLock(LONG));
      waiter.awaitParked();
      redis.command("REPLICAOF", "NO", "ONE");
      assertTrue(waiter.get());
    } finally {
      redis.command("REPLICAOF", "NO", "ONE");
    }
  }

  @Test
  void aServerWithoutMemory() throws Exception {
    try (LockClient holder = client(redis.uri())) {
      RedisLock held = new RedisLock(holder, Names.fresh());
      held.lock();
      redis.command("CONFIG", "SET", "maxmemory", "1");
      try {
        assertReported(
            name, redis.uri(), Reason.OUT_OF_MEMORY, "no memory left", "; raise maxmemory");
        assertFalse(redis.exists(name));
        held.unlock();
        assertFalse(redis.exists(held.name()), "a hold can be released");
      } finally {
        redis.command("CONFIG", "SET", "maxmemory", "0");
      }
    }
  }

  @Test
  void aServerThatRunsALongScript() throws Exception {
    redis.command("CONFIG", "SET", "lua-time-limit", "50");
    AsyncCall<Object> script =
        AsyncCall.start(() -> redis.command("EVAL", "while true do end", "0"));
    try (Jedis admin = new Jedis(redis.server().host(), redis.server().port())) {
      until("it is busy", () -> isRefused(admin, "BUSY"));
      assertReported(name, redis.uri(), Reason.NOT_READY, "not ready", "BUSY", "; ask again when");
      admin.scriptKill();
    }
    assertThrows(JedisException.class, script::get);
    assertFalse(redis.exists(name));
  }

  private static boolean isRefused(Jedis admin, String word) {
    try {
      admin.exists("k");
      return false;
    } catch (JedisException refusal) {
      return refusal.getMessage().startsWith(word);
    }
  }

  @Test
  void aServerThatIsLoadingItsData() throws Exception {
    try (RedisServer master = RedisServer.start();
        RedisServer loading = RedisServer.start()) {
      master.command("CONFIG", "SET", "rdbcompression", "no");
      master.command("CONFIG", "SET", "repl-diskless-sync-delay", "0");
      String value = "x".repeat(1_000_000); // while it loads it looks up every 2 MB
      for (int i = 0; i < 60; i++) {
        master.command("SET", "k" + i, value);
      }
      loading.command("CONFIG", "SET", "key-load-delay", "100000");
      loading.command("REPLICAOF", master.host(), Integer.toString(master.port()));
      try (Jedis admin = new Jedis(loading.host(), loading.port())) {
        until("it loads", () -> isRefused(admin, "LOADING"));
        try (LockClient client = client(loading.uri())) {
          LockException thrown =
              assertThrows(LockException.class, () -> new RedisLock(client, name).tryLock());
          assertMessage(
              name,
              thrown,
              Reason.NOT_READY,
              "not ready",
              "LOADING",
              "; wait until it has loaded its data");
          ClientResources.awaitNone(client);
        }
      }
    }
  }

  @Test
  void aServerThatAcceptsNoMoreClients() throws Exception {
    try (Jedis admin = new Jedis(redis.server().host(), redis.server().port())) {
      admin.configSet("maxclients", "1");
      try {
        assertReported(
            name, redis.uri(), Reason.NOT_READY, "takes no more clients", "; raise its maxclients");
      } finally {
        admin.configSet("maxclients", "1000");
      }
    }
  }

  @Test
  void aServerWithoutScripts() throws Exception {
    try (RedisServer bare = RedisServer.builder().config("rename-command", "EVALSHA", "").start()) {
      assertReported(
          name,
          bare.uri(),
          Reason.SCRIPT,
          "refused the command",
          "unknown command",
          "; use a Redis or Valkey");
    }
  }

  @Test
  void aClusterUriOfAServerWithoutClusterMode() throws Exception {
    assertReported(
        name,
        redis.uri().replace("redis:", "redis-cluster:"),
        Reason.MISCONFIGURED,
        "no node of a Redis Cluster",
        "; use redis://, with one host");
  }

  @Test
  void aDatabaseThatTheServerDoesNotHave() throws Exception {
    assertReported(
        name,
        redis.uri() + "/99",
        Reason.MISCONFIGURED,
        "no such database",
        "out of range",
        "; check the number at the end of the URI");
  }

  @Test
  void aKeyThatIsAString() throws Exception {
    redis.command("SET", name, "a string");
    assertReported(name, redis.uri(), Reason.WRONG_TYPE, "in use as something else", "WRONGTYPE");
    assertEquals("a string", redis.command("GET", name));
  }

  @Test
  void aKeyThatIsALockOfAnotherKind() throws Exception {
    redis.command("HSET", name, "mode", "read", "somebody:1", "1");
    assertReported(
        name, redis.uri(), Reason.WRONG_TYPE, "in use as something else", "read-write lock");
    try (LockClient client = client(redis.uri())) {
      RedisLock lock = new RedisLock(client, name);
      for (Callable<?> query :
          List.<Callable<?>>of(lock::isLocked, lock::remainingLease, lock::forceUnlock)) {
        assertMessage(name, assertThrows(LockException.class, query::call), Reason.WRONG_TYPE);
      }
    }
    assertEquals(List.of("mode", "somebody:1"), redis.holders(name));
  }

  @Test
  void aServerThatIsSilent() throws Exception {
    LockOptions options = LockOptions.builder().commandTimeout(Duration.ofMillis(300)).build();
    try (FaultProxy proxy = FaultProxy.to(redis.server());
        LockClient client = LockClient.create(proxy.uri(), options)) {
      proxy.blackhole(Direction.TO_CLIENT);
      RedisLock lock = new RedisLock(client, name);
      for (Callable<?> call :
          List.<Callable<?>>of(lock::tryLock, lock::isLocked, () -> lock.tryLock(SHORT))) {
        LockException thrown = assertThrows(LockException.class, call::call);
        assertEquals(Reason.UNREACHABLE, thrown.reason());
        String message = thrown.getMessage();
        assertTrue(message.startsWith("lock '" + name + "': "), message);
        assertTrue(message.endsWith(" in time" + SILENCE), message);
      }
    }
  }

  @Test
  void allConnectionsInUse() throws Exception {
    LockOptions options =
        LockOptions.builder()
            .tuning(t -> t.maxConnections(1))
            .commandTimeout(Duration.ofSeconds(5))
            .tuning(t -> t.subscriptionLinger(Duration.ZERO))
            .build();
    try (FaultProxy proxy = FaultProxy.to(redis.server());
        LockClient client = LockClient.create(proxy.uri(), options)) {
      warm(client);
      proxy.delay(Direction.TO_CLIENT, Duration.ofHours(1));
      AsyncCall<Boolean> busy = AsyncCall.start(new RedisLock(client, Names.fresh())::isLocked);
      until("it is in use", () -> client.status().connectionsInUse() == 1);
      LockException thrown =
          assertThrows(
              LockException.class,
              () -> new RedisLock(client, name).tryLock(Duration.ofMillis(100)));
      assertEquals(Reason.POOL_EXHAUSTED, thrown.reason());
      assertTrue(thrown.getMessage().contains("raise LockTuning.maxConnections"));
      proxy.restore();
      assertFalse(busy.get());
      ClientResources.awaitNone(client);
    }
    assertFalse(redis.exists(name));
  }
}
