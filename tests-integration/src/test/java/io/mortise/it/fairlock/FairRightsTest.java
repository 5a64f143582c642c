package io.mortise.it.fairlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.contract.Rights;
import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The rights that docs/wire.md names for a fair lock, and no others, are enough for all it does.
 */
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
@Timeout(60)
@Tag("redis-version")
class FairRightsTest {
  private static final Duration PRESENCE = Duration.ofMillis(400);
  private static final String REDISSONS = "11111111-1111-4111-8111-111111111111:1";

  @Test
  void theDocumentedRightsAreEnough() throws Exception {
    try (RedisServer server = RedisServer.start();
        ServedOrder line = new ServedOrder(server)) {
      server.command(rules().toArray(String[]::new));
      String uri = "redis://limited:x@%s:%d".formatted(server.host(), server.port());
      try (LockClient client = LockClient.create(uri)) {
        RedisFairLock lock = line.lock(client, PRESENCE);
        lock.lock();
        // One of Redisson's stands before ours, so that ours look at the whole queue.
        server.command("RPUSH", line.list, REDISSONS);
        server.command("ZADD", line.deadlines, "9000000000000", REDISSONS);
        line.ask("A", lock);
        String first = line.holders().get(1);
        await().until(() -> line.left(first) <= 300_000 + PRESENCE.toMillis());
        assertEquals(2, lock.queueLength());
        assertTrue(lock.queuePosition().isPresent());
        assertFalse(line.ask("B", lock, () -> lock.tryLock(PRESENCE)).taken());
        // Its place is gone, and list and set are healed.
        server.command("LREM", line.list, "0", first);
        await().until(() -> line.holders().equals(List.of(REDISSONS, first)));
        line.end(REDISSONS);
        assertTrue(lock.forceUnlock());
        line.awaitServed("A");
      }
    }
  }

  private static List<String> rules() throws IOException {
    List<String> rules =
        new ArrayList<>(List.of("ACL", "SETUSER", "limited", "reset", "on", ">x", "resetkeys"));
    rules.addAll(Rights.ofFairLocks("it:"));
    return rules;
  }
}
