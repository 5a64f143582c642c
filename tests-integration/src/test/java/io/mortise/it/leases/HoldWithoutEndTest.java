package io.mortise.it.leases;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Somebody has taken the end off the key of a hold, which is asked for after a fault. */
@Timeout(60)
@Tag("redis-version")
class HoldWithoutEndTest {
  private static final String NAME = "persisted";

  private static RedisServer server;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  enum Kind {
    PLAIN,
    FAIR,
    READ,
    WRITE;

    DistributedLock lock(LockClient client) {
      return switch (this) {
        case PLAIN -> new RedisLock(client, NAME);
        case FAIR -> new RedisFairLock(client, NAME);
        case READ -> new RedisReadWriteLock(client, NAME).readLock();
        case WRITE -> new RedisReadWriteLock(client, NAME).writeLock();
      };
    }
  }

  @ParameterizedTest
  @EnumSource
  void theQuestionWhetherItIsThereGivesItNoEnd(Kind kind) {
    server.command("FLUSHALL");
    try (FaultProxy proxy = FaultProxy.to(server);
        LockClient client = LockClient.create(proxy.uri());
        LockClient other = LockClient.create(server.uri())) {
      Lease lease = kind.lock(client).tryAcquire(Duration.ofMinutes(5)).orElseThrow();
      assertEquals(1L, server.command("PERSIST", NAME));
      server.resetStats();

      proxy.closeConnections();
      assertTrue(new RedisLock(client, "another").tryLock());
      // The script that asks for the hold looks for its field; the one that takes a free lock does
      // not.
      await().until(() -> server.commandStats().getOrDefault("hexists", 0L) > 0);

      assertEquals(-1L, server.command("PTTL", NAME));
      assertEquals(Lease.State.HELD, lease.state());
      if (kind != Kind.READ) {
        assertFalse(kind.lock(other).tryLock());
      }
      lease.close();
      assertEquals(0L, server.command("EXISTS", NAME));
    }
  }
}
