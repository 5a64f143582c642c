package io.mortise.core.internal.acquire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import com.google.common.base.Ticker;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.internal.lease.RedisHold;
import io.mortise.core.internal.lease.TestContext;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.PlainLockProtocol;
import io.mortise.scripts.Script;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The epoch ends while a grant is on its way, and the thread stands still for longer than the lease
 * before it has a holder. A lost hold may be released in the background, so its holder id makes no
 * other attempt: that release could hit the grant.
 */
@Timeout(60)
class SpentHolderIdTest {
  private static final String GRANTED = RespServer.integers(List.of(1L, 42L, 0L));
  private static final String RELEASED = RespServer.integers(List.of(1L, 0L));

  private final AtomicInteger attempts = new AtomicInteger();
  private final RespServer server = new RespServer(this::answer);
  private final RedisLockClient client = TestClients.of(server, LockOptions.defaults());
  private final LeaseTerms terms = LeaseTerms.of(client.options(), Duration.ofHours(1), null, true);

  private volatile boolean pausesSoon;
  private volatile long pausedNanos;

  /** The pause comes when the lease is asked whether it was lost. */
  private final Ticker ticker =
      new Ticker() {
        @Override
        public long read() {
          if (pausesSoon && isReadByLossDetector()) {
            pausesSoon = false;
            pausedNanos = client.options().lease().toNanos();
          }
          return Ticker.systemTicker().read() + pausedNanos;
        }
      };

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private static boolean isReadByLossDetector() {
    return StackWalker.getInstance()
        .walk(frames -> frames.anyMatch(frame -> frame.getClassName().endsWith(".LossDetector")));
  }

  private String answer(List<String> command) {
    if (isRelease(command)) {
      return RELEASED;
    }
    if (attempts.getAndIncrement() == 0) {
      client.context().lease().holds().endEpoch();
      pausesSoon = true;
    }
    return GRANTED;
  }

  private static boolean isRelease(List<String> command) {
    return command.get(1).equals(new String(Script.load("lock/release").sha1(), UTF_8));
  }

  private List<String> holders(boolean ofReleases) {
    return server.heard().stream()
        .filter(command -> isRelease(command) == ofReleases)
        .map(command -> command.get(3 + Integer.parseInt(command.get(2))))
        .toList();
  }

  private AcquireContext context() {
    AcquireContext context = client.context();
    return new AcquireContext(
        new TestContext(context.lease()).ticker(ticker).build(),
        context.queues(),
        context.sharedHolds(),
        context.runWaiters(),
        context.subscriptions(),
        context.fairness(),
        context.holderIds(),
        context.parked());
  }

  @Test
  void theWaitGoesOnUnderANewOne() throws Exception {
    RedisHold hold =
        Acquisition.acquire(
            context(),
            LeaseBackedLock.sourceOf(new RedisLock(client, "orders")),
            new PlainLockProtocol(new LockName("orders"), client.options()),
            terms,
            null);
    assertNotNull(hold);

    List<String> holders = holders(false);
    assertEquals(2, holders.size());
    assertNotEquals(holders.get(0), holders.get(1));
    await().atMost(BackgroundCall.LIVENESS).until(() -> client.status().pendingReleases() == 0);
    assertEquals(List.of(holders.get(0)), holders(true));
    hold.release();
  }
}
