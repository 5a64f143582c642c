package io.mortise.it.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Elapsed;
import io.mortise.it.support.SharedRedis;
import io.mortise.multilock.MultiLock;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many members with long names: what is written at once is bounded, because a write has no end. */
@Timeout(60)
class ManyMembersTest {
  private static final int MEMBERS = 2_000;
  private static final Duration WAIT = Duration.ofMillis(200);
  private static final long PROMPT_MILLIS = 5_000;

  /** Three bytes for each character. */
  private static final String LONG_NAME = "\u540d".repeat(1_000);

  @Test
  void aServerThatReadsNothingKeepsItsCallerForTheWaitAlone() throws Exception {
    try (RedisServer server = RedisServer.start();
        LockClient client = LockClient.create(server.uri())) {
      SharedRedis.warm(client);
      MultiLock lock =
          new MultiLock(
              IntStream.range(0, MEMBERS)
                  .mapToObj(i -> new RedisLock(client, i + LONG_NAME))
                  .toList());
      server.pause();
      try {
        long took =
            Elapsed.runningMillisOf(
                () ->
                    assertEquals(
                        Reason.UNREACHABLE,
                        assertThrows(LockException.class, () -> lock.tryLock(WAIT)).reason()));

        assertTrue(took < PROMPT_MILLIS, () -> "it took " + took + " ms");
      } finally {
        server.resume();
      }
    }
  }

  @Test
  void theyAreAcquiredAllTheSame() throws Exception {
    try (RedisServer server = RedisServer.start();
        LockClient client = LockClient.create(server.uri())) {
      MultiLock lock =
          new MultiLock(
              IntStream.range(0, 50).mapToObj(i -> new RedisLock(client, i + LONG_NAME)).toList());

      assertTrue(lock.tryLock());

      assertEquals(50, client.status().holds());
      lock.unlock();
      assertEquals(0, client.status().holds());
    }
  }
}
