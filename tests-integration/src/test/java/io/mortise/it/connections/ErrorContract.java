package io.mortise.it.connections;

import static io.mortise.it.support.Elapsed.millisOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.LateAnswer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import redis.clients.jedis.exceptions.JedisException;

/** A fault is reported with the name of the lock, the fact, the remedy, and the cause. */
final class ErrorContract {
  private static final Duration LEASE = Duration.ofSeconds(2);
  private static final Duration LONG = Duration.ofSeconds(50);

  private ErrorContract() {}

  static LockClient client(String uri) {
    return LockClient.create(
        uri,
        LockOptions.builder()
            .lease(LEASE)
            .tuning(t -> t.subscriptionLinger(Duration.ZERO))
            .build());
  }

  static void assertReported(String name, String uri, Reason reason, String... words)
      throws Exception {
    try (LockClient client = client(uri)) {
      assertReported(name, client, reason, words);
      ClientResources.awaitNone(client);
    }
  }

  /** Each acquiring method fails in the same way; a transient fault ends the wait with its time. */
  static void assertReported(String name, LockClient client, Reason reason, String... words)
      throws Exception {
    RedisLock lock = new RedisLock(client, name);
    Duration wait = reason.isTransient() ? Duration.ofMillis(100) : LONG;
    List<Callable<?>> calls =
        List.of(
            lock::tryLock,
            () -> lock.tryLock(wait),
            () -> lock.tryLock(wait, LEASE),
            lock::tryAcquire,
            () -> lock.acquire(wait));
    for (Callable<?> call : calls) {
      long millis =
          millisOf(() -> assertMessage(name, thrownBy(call, wait, reason), reason, words));
      assertTrue(millis < 10_000, () -> "it took " + millis + " ms");
      assertEquals(0, lock.holdCount());
    }
  }

  /** A machine that stands still at the end of a wait makes it end without an answer. */
  private static LockException thrownBy(Callable<?> call, Duration wait, Reason reason)
      throws Exception {
    return LateAnswer.repeat(
        wait,
        () -> {
          LockException thrown = assertThrows(LockException.class, call::call);
          if (thrown.reason() == Reason.UNREACHABLE && reason != Reason.UNREACHABLE) {
            throw thrown;
          }
          return thrown;
        });
  }

  static void assertMessage(String name, LockException thrown, Reason reason, String... words) {
    String message = thrown.getMessage();
    assertEquals(reason, thrown.reason(), message);
    assertTrue(message.contains("'" + name + "'"), message);
    for (String word : words) {
      assertTrue(message.contains(word), () -> "'" + word + "' is missing in: " + message);
    }
    assertInstanceOf(JedisException.class, thrown.getCause());
  }
}
