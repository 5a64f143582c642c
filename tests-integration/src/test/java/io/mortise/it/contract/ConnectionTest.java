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
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The client connects as the URI says. */
@Timeout(30)
@Tag("redis-version")
class ConnectionTest {
  @AutoClose private static final RedisServer server = RedisServer.start();

  @AutoClose
  private static final RedisServer withPassword =
      RedisServer.builder().config("requirepass", "s3cr et@/%").start();

  @Test
  void theLockIsInTheDatabaseOfTheUri() {
    server.command("FLUSHALL");
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
  void theClientSpeaksTheProtocolOfTheUri() {
    for (int protocol = 2; protocol <= 3; protocol++) {
      try (LockClient client = LockClient.create(server.uri() + "?protocol=" + protocol)) {
        SharedRedis.warm(client); // the server may not know the scripts yet
        new RedisLock(client, Names.fresh()).tryAcquire().orElseThrow().close();
        String connections = (String) server.command("CLIENT", "LIST", "TYPE", "normal");
        // A server before Redis 7 does not name the protocol.
        if (connections.contains("resp=")) {
          String spoken = "cmd=evalsha user=default redir=-1 resp=" + protocol;
          assertTrue(connections.contains(spoken), connections);
        }
      }
    }
  }

  @Test
  void theClientSendsThePasswordOfTheUri() throws Exception {
    try (LockClient client = LockClient.create(withPassword.uri())) {
      DistributedLock lock = new RedisLock(client, Names.fresh());
      assertTrue(lock.tryLock(Duration.ofSeconds(20)));
      lock.unlock();
    }
  }

  @Test
  void aWrongPasswordAndAMissingOneAreRefusedAtOnce() {
    String host = withPassword.host() + ":" + withPassword.port();
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
