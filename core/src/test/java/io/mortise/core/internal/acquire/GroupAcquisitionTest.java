package io.mortise.core.internal.acquire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.scripts.Script;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An attempt for several locks that ends in the middle leaves nothing behind. */
@Timeout(60)
class GroupAcquisitionTest {
  private static final LockOptions OPTIONS =
      LockOptions.builder().commandTimeout(Duration.ofSeconds(20)).build();
  private static final String UNREADABLE = "*2\r\n:1\r\n$5\r\ntoken\r\n";

  /** By the SHA-1 of the script. */
  private final Map<String, String> answers = new ConcurrentHashMap<>();

  private final RespServer server =
      new RespServer(command -> answers.getOrDefault(command.get(1), RespServer.HANG_UP));
  private final RedisLockClient client = TestClients.of(server, OPTIONS);
  private final List<LeaseSource> sources =
      List.of(
          LeaseBackedLock.sourceOf(new RedisLock(client, "orders")),
          LeaseBackedLock.sourceOf(new RedisLock(client, "invoices")));

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private static String sha1(String script) {
    return new String(Script.load(script).sha1(), UTF_8);
  }

  private GroupAttemptResult attempt() throws InterruptedException {
    return sources
        .get(0)
        .acquireTogether(sources, LeaseTerms.of(OPTIONS, Duration.ZERO, null, true), null);
  }

  @Test
  void anUnreadableReplyLeavesNoLocalQueueBlockedAndReleasesAll() throws Exception {
    answers.put(sha1("lock/release"), RespServer.integers(List.of(1L, 0L)));
    answers.put(sha1("lock/acquire_all"), UNREADABLE);

    LockException thrown = assertThrows(LockException.class, this::attempt);

    assertTrue(thrown.getMessage().contains("orders', 'invoices"), thrown::getMessage);
    assertInstanceOf(ClassCastException.class, thrown.getCause());

    assertEquals(0, client.status().contended());
    await()
        .atMost(BackgroundCall.LIVENESS)
        .untilAsserted(
            () ->
                assertEquals(
                    List.of("invoices", "orders"),
                    server.heard().stream()
                        .filter(command -> command.get(1).equals(sha1("lock/release")))
                        .map(command -> command.get(3))
                        .sorted()
                        .toList()));
    answers.put(sha1("lock/acquire_all"), RespServer.integers(List.of(0L, 1L)));
    assertInstanceOf(GroupAttemptResult.Busy.class, attempt(), "the local queues are free");
  }
}
