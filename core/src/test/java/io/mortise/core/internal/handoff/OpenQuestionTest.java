package io.mortise.core.internal.handoff;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import io.mortise.scripts.Script;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A hold is handed off only while nothing is open about it. */
@Timeout(60)
class OpenQuestionTest {
  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofMinutes(5))
          .tuning(t -> t.maxHandOffTime(Duration.ofMinutes(1)))
          .build();
  private static final String RENEW = new String(Script.load("lock/renew").sha1(), UTF_8);
  private static final String RELEASE = new String(Script.load("lock/release").sha1(), UTF_8);
  private static final long GRANTED_TOKEN = 42;

  private final RespServer server = new RespServer(this::answer);
  private final RedisLockClient client = TestClients.of(server, OPTIONS);
  private final LeaseSource lock = LeaseBackedLock.sourceOf(new RedisLock(client, "orders"));
  private volatile String renewal = RespServer.SILENCE;

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private String answer(List<String> command) {
    if (command.get(1).equals(RENEW)) {
      return renewal;
    }
    return RespServer.integers(
        command.get(1).equals(RELEASE) ? List.of(1L, 0L) : List.of(1L, GRANTED_TOKEN, 0L));
  }

  private OwnedLease acquire() throws InterruptedException {
    LeaseTerms terms = LeaseTerms.of(OPTIONS, Duration.ofMinutes(1), null, true);
    return lock.acquire(terms, null).orElseThrow();
  }

  private void awaitRenewal() {
    await()
        .atMost(BackgroundCall.LIVENESS)
        .until(() -> server.heard().stream().anyMatch(command -> command.get(1).equals(RENEW)));
  }

  /** Returns the token of a hold that followed another, after this was done to the other. */
  private long tokenAfter(Consumer<OwnedLease> action) throws Exception {
    OwnedLease first = acquire(); // without waiters, so that it is not handed off
    BackgroundCall<Void> second =
        BackgroundCall.startAndPark(
            () -> {
              OwnedLease lease = acquire();
              action.accept(lease);
              lease.release();
              return null;
            });
    BackgroundCall<OwnedLease> third = BackgroundCall.startAndPark(this::acquire);
    first.release();
    second.get();
    OwnedLease last = third.get();
    last.release();
    return last.fencingToken();
  }

  @Test
  void aHoldWithoutOneIsHandedOff() throws Exception {
    assertEquals(GRANTED_TOKEN + 1, tokenAfter(lease -> {}));
  }

  @Test
  void aHoldWhoseVerificationIsPendingIsReleasedInRedis() throws Exception {
    long token =
        tokenAfter(
            lease -> {
              lease.requestVerification();
              awaitRenewal();
            });

    assertEquals(GRANTED_TOKEN, token);
  }

  @Test
  void aHoldWhoseLastRenewalFailedIsReleasedInRedis() throws Exception {
    renewal = RespServer.error("LOADING on purpose");

    long token =
        tokenAfter(
            lease -> {
              lease.requestVerification();
              await()
                  .atMost(BackgroundCall.LIVENESS)
                  .until(() -> lease.state() == OwnedLease.State.AT_RISK);
            });

    assertEquals(GRANTED_TOKEN, token);
  }
}
