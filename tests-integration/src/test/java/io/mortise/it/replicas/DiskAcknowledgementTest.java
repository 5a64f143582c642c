package io.mortise.it.replicas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mortise.core.Acknowledgement;
import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Acquisitions that have to be on disk, on servers that know WAITAOF: Redis 7.2 and later. */
@Tag("redis-version")
@Timeout(60)
class DiskAcknowledgementTest {
  private final String name = Names.fresh();
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
  void aHoldOfEachFamilyIsOnDiskAndSurvivesARestart() throws Exception {
    try (LockClient client = client(Duration.ofSeconds(5))) {
      for (DistributedLock lock : AllFamilies.of(client, name)) {
        Lease lease = lock.tryAcquire().orElseThrow();
        server.kill();
        server.restart();
        assertTrue(lock.isLocked(), lock.name());
        lease.close();
      }
    }
  }

  @Test
  void anAcquisitionThatDoesNotReachTheDiskIsUndoneAndTheErrorSaysWhy() {
    try (LockClient client = client(Duration.ofMillis(300))) {
      RedisLock lock = new RedisLock(client, name);
      lock.lock();
      lock.unlock();
      server.command("CONFIG", "SET", "appendfsync", "no");

      LockException thrown = assertThrows(LockException.class, lock::tryLock);

      assertEquals(Reason.NOT_REPLICATED, thrown.reason());
      assertTrue(thrown.getMessage().contains("on the disk of no master"), thrown.getMessage());
      assertFalse(lock.isLocked(), "it was undone");
    }
  }
}
