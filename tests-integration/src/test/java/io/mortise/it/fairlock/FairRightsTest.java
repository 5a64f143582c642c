package io.mortise.it.fairlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.contract.Rights;
import io.mortise.it.support.LateAnswer;
import io.mortise.it.support.TwoClients;
import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The rights that docs/wire.md names for a fair lock, and no others, are enough. */
@Timeout(60)
@Tag("redis-version")
class FairRightsTest {
  private static final Duration WAITER_TIMEOUT = Duration.ofMillis(400);
  private static final String REDISSONS = "11111111-1111-4111-8111-111111111111:1";

  @RegisterExtension static final TwoClients clients = new TwoClients();

  @RegisterExtension final ServedOrder order = new ServedOrder(clients, WAITER_TIMEOUT);

  @Test
  void theDocumentedRightsAreEnough() throws Exception {
    RedisServer server = order.server();
    server.command(rules().toArray(String[]::new));
    String uri = "redis://limited:x@%s:%d".formatted(server.host(), server.port());
    try (LockClient client = LockClient.create(uri)) {
      RedisFairLock lock = order.lock(client);
      lock.lock();
      // A waiter of Redisson is ahead of ours, so that ours scan the whole queue.
      order.append(REDISSONS);
      order.queue("A", lock);
      String first = order.holders().get(1);
      await().until(() -> order.millisLeft(first) <= 300_000 + WAITER_TIMEOUT.toMillis());
      assertEquals(2, lock.queueLength());
      await().until(() -> lock.queuePosition().isPresent());
      // So long that it is seen in the queue before it leaves.
      Duration wait = Duration.ofSeconds(2);
      assertFalse(order.queue("B", lock, () -> LateAnswer.tryLock(lock, wait)).acquired());
      // Its place is gone, and list and set are repaired.
      server.command("LREM", order.list, "0", first);
      await().until(() -> order.holders().equals(List.of(REDISSONS, first)));
      order.expire(REDISSONS);
      assertTrue(lock.forceUnlock());
      order.awaitServed("A");
    }
    order.removeForcedMark();
  }

  private static List<String> rules() throws IOException {
    List<String> rules =
        new ArrayList<>(List.of("ACL", "SETUSER", "limited", "reset", "on", ">x", "resetkeys"));
    rules.addAll(Rights.ofFairLocks("it:"));
    return rules;
  }
}
