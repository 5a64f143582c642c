package io.mortise.it.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the URI says is what the server sees. */
@Timeout(30)
@Tag("redis-version")
class ConnectionTest {
  private static RedisServer server;
  private static RedisServer guarded;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
    guarded = RedisServer.builder().config("requirepass", "s3cr et@/%").start();
  }

  @AfterAll
  static void stop() {
    server.close();
    guarded.close();
  }

  @Test
  void theDatabaseOfTheUriHasTheLock() {
    String name = Names.fresh();
    try (LockClient client = LockClient.create(server.uri() + "/3");
        LockClient elsewhere = LockClient.create(server.uri());
        Lease lease = new RedisLock(client, name).tryAcquire().orElseThrow()) {
      String keyspace = (String) server.command("INFO", "keyspace");
      assertTrue(keyspace.contains("db3:keys=2"), keyspace);
      assertFalse(keyspace.contains("db0:"), keyspace);
      assertFalse(new RedisLock(elsewhere, name).isLocked());
      lease.ensureValid();
    }
  }

  @Test
  void theProtocolOfTheUriIsSpoken() {
    for (int protocol = 2; protocol <= 3; protocol++) {
      try (LockClient client = LockClient.create(server.uri() + "?protocol=" + protocol)) {
        new RedisLock(client, Names.fresh()).tryAcquire().orElseThrow().close();
        String connections = (String) server.command("CLIENT", "LIST", "TYPE", "normal");
        // Before Redis 7 the server does not tell what it speaks.
        if (connections.contains("resp=")) {
          String spoken = "cmd=evalsha user=default redir=-1 resp=" + protocol;
          assertTrue(connections.contains(spoken), connections);
        }
      }
    }
  }

  @Test
  void thePasswordOfTheUriIsGiven() throws Exception {
    try (LockClient client = LockClient.create(guarded.uri())) {
      DistributedLock lock = new RedisLock(client, Names.fresh());
      assertTrue(lock.tryLock(Duration.ofSeconds(1)));
      lock.unlock();
    }
  }

  @Test
  void aWrongPasswordAndAMissingOneAreRefusedAtOnce() {
    String host = guarded.host() + ":" + guarded.port();
    for (String uri : new String[] {"redis://:wrong@" + host, "redis://" + host}) {
      try (LockClient client = LockClient.create(uri)) {
        DistributedLock lock = new RedisLock(client, Names.fresh());
        LockException refused = assertThrows(LockException.class, lock::lock);
        assertEquals(Reason.ACCESS_DENIED, refused.reason());
        assertTrue(refused.getMessage().contains("password"), refused::getMessage);
      }
    }
  }
}
