package io.mortise.core.internal.lease;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.scripts.Script;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A release whose first try had no reply, and whose second finds nothing: either the first try
 * released the hold, or the server has lost it.
 */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // the test is about the release
class ReleaseInDoubtTest {
  private static final LockOptions OPTIONS =
      LockOptions.builder().commandTimeout(Duration.ofSeconds(20)).build();
  private static final String RELEASE = new String(Script.load("lock/release").sha1(), UTF_8);
  private static final String GRANTED = RespServer.integers(List.of(1L, 42L, 0L));
  private static final String NOTHING = RespServer.integers(List.of(0L, 0L));

  private final AtomicInteger releases = new AtomicInteger();
  private volatile Runnable atFirstRelease = () -> {};
  private volatile String firstAnswer = RespServer.HANG_UP;
  private final RespServer server =
      new RespServer(command -> command.get(1).equals(RELEASE) ? release() : GRANTED);
  private final LockClient client = LockClient.create(server.uri(), OPTIONS);
  private final RedisLock lock = new RedisLock(client, "orders");

  private String release() {
    if (releases.incrementAndGet() > 1) {
      return NOTHING;
    }
    atFirstRelease.run();
    return firstAnswer;
  }

  private void restart() {
    try {
      server.restart();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @BeforeEach
  void hold() {
    assertTrue(lock.tryLock());
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private void assertInDoubt(LockException thrown) {
    assertEquals(Reason.IN_DOUBT, thrown.reason());
    assertTrue(thrown.getMessage().contains("'orders'"), thrown.getMessage());
    assertTrue(thrown.getMessage().contains("restarted"), thrown.getMessage());
    assertInstanceOf(CommandException.class, thrown.getCause(), "the outcome of the first try");
    assertEquals(2, releases.get());
    assertEquals(0, client.status().holds());
    assertEquals(0, client.status().contended(), "the local queue is free");
    assertEquals(0, client.status().pendingReleases(), "there is nothing more to release");
  }

  @Test
  void aServerThatHasNotRestartedReleasedItAtTheFirstTry() {
    lock.unlock();

    assertEquals(2, releases.get());
    assertFalse(lock.isHeldByCurrentThread());
  }

  @Test
  void aServerThatHasRestartedMayHaveLostIt() {
    atFirstRelease = this::restart;

    assertInDoubt(assertThrows(LockException.class, lock::unlock));

    assertFalse(lock.isHeldByCurrentThread());
    assertTrue(lock.tryLock(), "and it can be acquired again");
  }

  @Test
  void aServerThatHasRestartedUnnoticedMayHaveLostIt() {
    restart();
    releases.set(1); // the first try goes into a connection that is dead

    LockException thrown = assertThrows(LockException.class, lock::unlock);

    assertEquals(Reason.IN_DOUBT, thrown.reason());
  }

  @Test
  void aHoldThatIsMissingAtTheFirstTryIsLostAndNotInDoubt() {
    firstAnswer = NOTHING;

    assertThrows(LeaseLostException.class, lock::unlock);

    assertEquals(1, releases.get());
  }
}
