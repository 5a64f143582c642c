package io.mortise.core.internal.lease;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.pool.Reply;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.scripts.Script;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A listener is notified of a loss once, also while its client closes, and afterwards. */
@Timeout(60)
class LossAtCloseTest {
  private static final String ACQUIRE = new String(Script.load("lock/acquire").sha1(), UTF_8);
  private static final long FORCED = 2;

  /** Grants each lock, and answers nothing else. */
  private final RespServer server =
      new RespServer(
          command ->
              command.get(1).equals(ACQUIRE)
                  ? RespServer.integers(List.of(1L, 42L, 0L))
                  : RespServer.SILENCE);

  private volatile boolean noThread;

  private final RedisLockClient client =
      TestClients.of(
          server,
          LockOptions.builder()
              .lease(Duration.ofMinutes(5))
              .commandTimeout(Duration.ofSeconds(2))
              .build(),
          this::newThread,
          new ReleaseFairness(0));
  private final List<LeaseLoss> losses = new CopyOnWriteArrayList<>();
  private final List<Thread> notifiers = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private Thread newThread(Runnable task, String name) {
    if (noThread) {
      throw new OutOfMemoryError("on purpose");
    }
    return new Thread(task, name);
  }

  private RedisLease acquire() throws InterruptedException {
    LeaseTerms terms = LeaseTerms.of(client.options(), Duration.ZERO, null, true);
    RedisLease lease =
        (RedisLease)
            LeaseBackedLock.sourceOf(new RedisLock(client, "orders"))
                .acquire(terms, null)
                .orElseThrow();
    lease.onLost(
        loss -> {
          notifiers.add(Thread.currentThread());
          losses.add(loss);
        });
    return lease;
  }

  private List<Reason> reasons() {
    return losses.stream().map(LeaseLoss::reason).toList();
  }

  @Test
  void aHoldWhoseReleaseIsNotConfirmedAtTheCloseIsNotifiedOnce() throws Exception {
    acquire();

    client.close();

    await()
        .atMost(BackgroundCall.LIVENESS)
        .untilAsserted(() -> assertEquals(List.of(Reason.CLIENT_CLOSED), reasons()));
  }

  /** Its thread is releasing it: the close leaves it to that thread, and ends before the reply. */
  @Test
  void aLossThatTheReplyToAReleaseReportsAfterTheCloseIsNotifiedOnce() throws Exception {
    RedisLease lease = acquire();
    assertTrue(lease.releasing().begin());
    client.close();
    assertEquals(List.of(), reasons());

    lease.releasing().onReply(new Reply(List.of(FORCED), null, null));
    lease.releasing().ensureEnded();

    assertEquals(List.of(Reason.FORCED), reasons());
    assertSame(Thread.currentThread(), notifiers.get(0));
  }

  /** A composite hold has its source notify its listeners. */
  @Test
  void aNotificationOfACompositeForWhichThereIsNoThreadIsMadeByTheThreadThatCloses() {
    noThread = true;
    List<Thread> ran = new CopyOnWriteArrayList<>();
    LeaseBackedLock.sourceOf(new RedisLock(client, "orders"))
        .notifyUser(() -> ran.add(Thread.currentThread()));
    assertEquals(List.of(), ran);

    client.close();

    assertEquals(List.of(Thread.currentThread()), ran);
  }

  @Test
  void aLossForWhichThereIsNoThreadIsNotifiedByTheThreadThatCloses() throws Exception {
    noThread = true;
    RedisLease lease = acquire();
    assertTrue(lease.lose(Reason.FORCED, System.nanoTime(), "on purpose"));

    client.close();

    assertEquals(List.of(Reason.FORCED), reasons());
    assertSame(Thread.currentThread(), notifiers.get(0));
  }
}
