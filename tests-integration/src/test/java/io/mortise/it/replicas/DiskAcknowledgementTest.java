package io.mortise.it.replicas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.LockOptions.Acknowledgement;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.multilock.MultiLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Acquisitions that have to be on a disk; on servers that know WAITAOF, which are those from 7.2.
 */
@Tag("redis-version")
@Timeout(60)
class DiskAcknowledgementTest {
  private final String name = "on-disk:" + UUID.randomUUID();
  private RedisServer server;

  @BeforeEach
  void start() {
    server =
        RedisServer.builder().config("appendonly", "yes").config("appendfsync", "always").start();
    List<?> known = (List<?>) server.command("COMMAND", "INFO", "WAITAOF");
    assumeTrue(known != null && !known.isEmpty() && known.get(0) != null, "WAITAOF is there");
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private LockClient client(Duration within) {
    return LockClient.create(
        server.uri(),
        LockOptions.builder()
            .acknowledgement(Acknowledgement.NONE.onDisks().within(within))
            .build());
  }

  @Test
  void everyFamilyIsOnTheDiskWhenItIsHeldAndComesBackFromThere() throws Exception {
    try (LockClient client = client(Duration.ofSeconds(5))) {
      for (DistributedLock lock :
          List.of(
              new RedisLock(client, name + ":plain"),
              new RedisFairLock(client, name + ":fair"),
              new RedisReadWriteLock(client, name + ":read").readLock(),
              new RedisReadWriteLock(client, name + ":write").writeLock(),
              new MultiLock(
                  new RedisLock(client, name + ":a"), new RedisLock(client, name + ":b")))) {
        Lease lease = lock.tryAcquire().orElseThrow();
        server.kill();
        server.restart();
        assertTrue(lock.isLocked(), lock.name());
        lease.close();
      }
    }
  }

  @Test
  void whatDoesNotReachTheDiskIsUndoneAndTheRefusalSaysWhy() {
    try (LockClient client = client(Duration.ofMillis(300))) {
      RedisLock lock = new RedisLock(client, name);
      lock.lock();
      lock.unlock();
      server.command("CONFIG", "SET", "appendfsync", "no");

      LockException told = assertThrows(LockException.class, lock::tryLock);

      assertEquals(Reason.NOT_REPLICATED, told.reason());
      assertTrue(told.getMessage().contains("on the disk of no master"), told.getMessage());
      assertFalse(lock.isLocked(), "it was undone");
    }
  }
}
