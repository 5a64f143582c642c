package io.mortise.it.certainty;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Waiters whose client is closed while the server hangs leave the queue when it answers again. */
@Timeout(60)
class CloseInQueueTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final Duration QUIET = Duration.ofMillis(300);

  /** Longer than the waiter timeout of the default options. */
  private static final Duration WAITER_TIMEOUT = Duration.ofMinutes(5);

  @RegisterExtension
  final LockFixture tested =
      LockFixture.direct(redis, LockOptions.builder().commandTimeout(Duration.ofMillis(300)));

  @Test
  void theyLeaveTheQueueAlsoWhenTheCloseGetsNoReply() throws Exception {
    RedisFairLock held = new RedisFairLock(tested.otherClient(), tested.name(), WAITER_TIMEOUT);
    held.lock();
    RedisFairLock lock = new RedisFairLock(tested.client(), tested.name(), WAITER_TIMEOUT);
    List<AsyncCall<Void>> waiters =
        Stream.generate(() -> AsyncCall.run(lock::lock)).limit(10).toList();
    Eventually.until("all are in the queue", () -> held.queueLength() == 10);

    // An attempt that is in transit when the server stops may run after everything else.
    Eventually.until("all are parked", CloseInQueueTest::isQuiet);

    redis.server().pause();
    tested.client().close();
    redis.server().resume();

    waiters.forEach(waiter -> assertThrows(LockException.class, waiter::get));
    Eventually.until("the queue is empty", () -> held.queueLength() == 0);
    held.unlock();
  }

  /** Returns whether no script runs for a while. */
  private static boolean isQuiet() {
    long before = scripts();
    return Awaitility.await()
        .pollDelay(QUIET)
        .until(() -> scripts() - before, Objects::nonNull)
        .equals(0L);
  }

  private static long scripts() {
    return redis.calls("evalsha") + redis.calls("eval");
  }
}
