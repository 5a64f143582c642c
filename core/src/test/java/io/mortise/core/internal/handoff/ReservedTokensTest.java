package io.mortise.core.internal.handoff;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.Lease;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.scripts.Script;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * How many fencing tokens an attempt reserves. Those that are not used are lost: with too many the
 * tokens run ahead of the server's clock.
 */
@Timeout(60)
class ReservedTokensTest {
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .tuning(t -> t.maxHandOffs(1_000_000).maxHandOffTime(Duration.ofMinutes(1)))
          .build();
  private static final String ACQUIRE = new String(Script.load("lock/acquire").sha1(), UTF_8);
  private static final String GRANTED = RespServer.integers(List.of(1L, 42L, 0L));
  private static final String BUSY_FOR_A_MOMENT = RespServer.integers(List.of(0L, 1L));
  private static final String RELEASED = RespServer.integers(List.of(1L, 0L));

  private final RespServer server = new RespServer(ReservedTokensTest::answer);
  private final RedisLockClient client = TestClients.of(server, OPTIONS);
  private final RedisLock lock = new RedisLock(client, "orders");

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  /** Grants the lock to an attempt that reserves tokens for others. */
  private static String answer(List<String> command) {
    if (command.get(0).equals("SUBSCRIBE")) {
      return RespServer.subscribed(command);
    }
    if (!isAttempt(command)) {
      return RELEASED;
    }
    return tokens(command) == 1 ? BUSY_FOR_A_MOMENT : GRANTED;
  }

  private static boolean isAttempt(List<String> command) {
    return command.get(1).equals(ACQUIRE);
  }

  private static int tokens(List<String> attempt) {
    return Integer.parseInt(attempt.get(attempt.size() - 2));
  }

  @Test
  void aQueueWithoutHistoryReservesAFewTokensAndNotThoseThatTheOptionsAllow() throws Exception {
    BackgroundCall<Lease> first = BackgroundCall.start(() -> lock.acquire(LONG).orElseThrow());
    await().atMost(BackgroundCall.LIVENESS).until(() -> client.status().contended() == 1);
    BackgroundCall<Lease> second = BackgroundCall.start(() -> lock.acquire(LONG).orElseThrow());

    first.get().close();
    second.get().close();

    List<Integer> reserving =
        server.heard().stream()
            .filter(ReservedTokensTest::isAttempt)
            .map(ReservedTokensTest::tokens)
            .filter(tokens -> tokens > 1)
            .toList();
    assertEquals(List.of(LocalQueue.MIN_EXPECTED_HAND_OFFS + 1), reserving);
  }
}
