package io.mortise.it.certainty;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Elapsed;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Every step of a bounded wait ends with the wait, while the server hangs. */
@Timeout(120)
class BoundedStepsTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  /** Much longer than any wait here, and shorter than a test may take. */
  private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(15);

  @RegisterExtension
  final LockFixture tested =
      LockFixture.direct(
          redis,
          LockOptions.builder()
              .commandTimeout(COMMAND_TIMEOUT)
              .tuning(t -> t.maxHandOffTime(COMMAND_TIMEOUT)));

  private final RedisLock lock = tested.lock();

  @AfterEach
  void resume() {
    redis.server().resume();
  }

  private static void assertWellWithinTheCommandTimeout(Callable<?> call) throws Exception {
    long millis = Elapsed.millisOf(() -> assertThrows(LockException.class, call::call));
    assertTrue(millis < COMMAND_TIMEOUT.toMillis() / 3, () -> "it took " + millis + " ms");
  }

  @Test
  void aReentryThatExtendsTheLease() throws Exception {
    lock.lock();
    redis.server().pause();
    assertWellWithinTheCommandTimeout(
        () -> lock.tryLock(Duration.ofMillis(50), Duration.ofMinutes(1)));
    redis.server().resume();
    lock.unlock();
  }

  @Test
  void theNextInTheQueueThatCannotUseTheOfferedHold() throws Exception {
    CountDownLatch released = new CountDownLatch(1);
    lock.lock();
    AsyncCall<Void> first =
        AsyncCall.run(
            () -> {
              lock.lock(); // with another one behind it, so that the hold may be handed off
              redis.server().pause();
              lock.unlock();
              released.countDown();
            });
    first.awaitQueued();
    AsyncCall<Void> second =
        AsyncCall.run(
            () ->
                assertWellWithinTheCommandTimeout(
                    () -> lock.tryLock(Duration.ofSeconds(2), Duration.ofSeconds(5))));
    second.awaitQueued();
    lock.unlock();
    first.get();
    released.await();
    second.get();
  }
}
