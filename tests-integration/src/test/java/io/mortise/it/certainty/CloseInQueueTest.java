package io.mortise.it.certainty;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Waiters whose client is closed while the server hangs are out of the queue when it goes on. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class CloseInQueueTest {
  private static final Duration COMMAND_TIMEOUT = Duration.ofMillis(300);

  private static final Duration QUIET = Duration.ofMillis(300);

  /** Longer than a waiter of the default options is believed in without a heartbeat. */
  private static final Duration PRESENCE = Duration.ofMinutes(5);

  @Test
  void theyLeaveTheQueueAlsoWhenNobodyWaitsForTheAnswer() throws Exception {
    try (RedisServer server = RedisServer.start();
        LockClient holder = LockClient.create(server.uri())) {
      RedisFairLock held = new RedisFairLock(holder, Names.fresh(), PRESENCE);
      held.lock();
      LockClient client =
          LockClient.create(
              server.uri(), LockOptions.builder().commandTimeout(COMMAND_TIMEOUT).build());
      RedisFairLock lock = new RedisFairLock(client, held.name(), PRESENCE);
      List<AsyncCall<Void>> waiters = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        waiters.add(
            AsyncCall.start(
                () -> {
                  lock.lock();
                  return null;
                }));
      }
      Eventually.until("all stand in the queue", () -> held.queueLength() == 10);

      // An attempt that is under way when the server stops may take effect after everything else.
      Eventually.until("all are parked", () -> isQuiet(server));

      server.pause();
      client.close();
      server.resume();

      for (AsyncCall<Void> waiter : waiters) {
        assertThrows(LockException.class, waiter::get);
      }
      Eventually.until("nobody stands in the queue", () -> held.queueLength() == 0);
      held.unlock();
    }
  }

  /** Whether no script is run for a while. */
  private static boolean isQuiet(RedisServer server) {
    long before = scripts(server);
    return Awaitility.await()
        .pollDelay(QUIET)
        .until(() -> scripts(server) - before, Objects::nonNull)
        .equals(0L);
  }

  private static long scripts(RedisServer server) {
    Map<String, Long> calls = server.commandStats();
    return calls.getOrDefault("evalsha", 0L) + calls.getOrDefault("eval", 0L);
  }
}
