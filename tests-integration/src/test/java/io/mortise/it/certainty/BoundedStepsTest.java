package io.mortise.it.certainty;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.EngineTypes;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Names;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every step of a wait takes what is left of the wait, while the server hangs. */
@Timeout(120)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class BoundedStepsTest {
  /** Much longer than any wait here, and shorter than a test may take. */
  private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(15);

  private RedisServer server;
  private LockClient client;

  @BeforeEach
  void open() {
    server = RedisServer.start();
    client =
        LockClient.create(
            server.uri(),
            LockOptions.builder()
                .commandTimeout(COMMAND_TIMEOUT)
                .maxHandOffTime(COMMAND_TIMEOUT)
                .build());
  }

  @AfterEach
  void close() {
    server.resume();
    client.close();
    server.close();
  }

  private static void assertWellWithinTheCommandTimeout(Callable<?> call) throws Exception {
    long beganNanos = System.nanoTime();
    assertThrows(LockException.class, call::call);
    Duration took = Duration.ofNanos(System.nanoTime() - beganNanos);
    assertTrue(took.compareTo(COMMAND_TIMEOUT.dividedBy(3)) < 0, () -> "it took " + took);
  }

  @Test
  void aReentryThatLengthensTheLease() throws Exception {
    RedisLock lock = new RedisLock(client, Names.fresh());
    lock.lock();
    server.pause();
    assertWellWithinTheCommandTimeout(
        () -> lock.tryLock(Duration.ofMillis(50), Duration.ofMinutes(1)));
    server.resume();
    lock.unlock();
  }

  @Test
  void theNextInLineThatCannotUseTheHoldThatIsLeftToIt() throws Exception {
    RedisLock lock = new RedisLock(client, Names.fresh());
    CountDownLatch released = new CountDownLatch(1);
    lock.lock();
    AsyncCall<Void> first =
        AsyncCall.start(
            () -> {
              lock.lock(); // with another one behind it, so that the hold may pass on
              server.pause();
              lock.unlock();
              released.countDown();
              return null;
            });
    first.awaitIn(EngineTypes.QUEUE);
    AsyncCall<Void> second =
        AsyncCall.start(
            () -> {
              assertWellWithinTheCommandTimeout(
                  () -> lock.tryLock(Duration.ofSeconds(2), Duration.ofSeconds(5)));
              return null;
            });
    second.awaitIn(EngineTypes.QUEUE);
    lock.unlock();
    first.get();
    released.await();
    second.get();
  }
}
