package io.mortise.core.internal.acquire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.FakeCluster;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.scripts.Script;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A call that ends without a hold releases what its attempts may have left in Redis, under the
 * holder id of the attempts.
 */
@Timeout(60)
class AbandonedAttemptTest {
  private static final LockOptions OPTIONS =
      LockOptions.builder().commandTimeout(Duration.ofSeconds(20)).build();
  private static final Duration LEASE = Duration.ofMillis(50);
  private static final String GRANTED = RespServer.integers(List.of(1L, 42L, 0L));
  private static final String BUSY = RespServer.integers(List.of(0L, 60_000L));
  private static final String NOT_FOUND = RespServer.integers(List.of(0L, 0L));
  private static final String RELEASED = RespServer.integers(List.of(1L, 0L));

  private final AtomicInteger attempts = new AtomicInteger();

  /** By the number of the attempt, from 1. */
  private volatile IntFunction<String> answers = number -> RespServer.HANG_UP;

  /** The answer to the first release of each lock. */
  private volatile String firstRelease = RELEASED;

  private final Set<String> releasedBefore = ConcurrentHashMap.newKeySet();
  private final RespServer server =
      new RespServer(
          command ->
              isRelease(command) ? release(command) : answers.apply(attempts.incrementAndGet()));
  private final RedisLockClient client = TestClients.of(server, OPTIONS);
  private final RedisLock lock = new RedisLock(client, "orders");

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private static boolean isRelease(List<String> command) {
    return command.get(1).equals(new String(Script.load("lock/release").sha1(), UTF_8));
  }

  private String release(List<String> command) {
    return releasedBefore.add(command.get(3)) ? firstRelease : RELEASED;
  }

  /** Replies when the lease that was asked for is over, as it is after a slow request. */
  private static String late(String answer) {
    long endNanos = System.nanoTime() + LEASE.toNanos();
    for (long left = LEASE.toNanos(); left > 0; left = endNanos - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    return answer;
  }

  private static String keyAndHolder(List<String> command) {
    int keys = Integer.parseInt(command.get(2));
    return command.get(3) + " of " + command.get(3 + keys);
  }

  private List<String> released() {
    return server.heard().stream()
        .filter(AbandonedAttemptTest::isRelease)
        .map(AbandonedAttemptTest::keyAndHolder)
        .sorted()
        .toList();
  }

  private void assertReleased(String... names) {
    await().atMost(BackgroundCall.LIVENESS).until(() -> client.status().pendingReleases() == 0);
    List<String> released = released();
    assertEquals(
        List.of(names),
        released.stream().map(each -> each.substring(0, each.indexOf(" of "))).toList());
    released.forEach(
        each -> assertTrue(each.contains(" of " + client.id() + ":1-"), () -> "holder: " + each));
    assertEquals(0, client.status().contended(), "the local queue is free");
  }

  @Test
  void aGrantThatArrivesAfterItsLeaseIsReleased() {
    answers = number -> late(GRANTED);

    LockException thrown =
        assertThrows(LockException.class, () -> lock.withLease(LEASE).tryAcquire());

    assertEquals(Reason.UNREACHABLE, thrown.reason());
    assertReleased("orders");
  }

  @Test
  void eachLockOfAGroupWhoseGrantArrivesAfterTheLeaseIsReleased() {
    answers = number -> late(GRANTED);
    List<LeaseSource> sources =
        List.of(
            LeaseBackedLock.sourceOf(lock),
            LeaseBackedLock.sourceOf(new RedisLock(client, "invoices")));
    LeaseTerms terms = LeaseTerms.of(OPTIONS, Duration.ZERO, LEASE, true);

    LockException thrown =
        assertThrows(
            LockException.class, () -> sources.get(0).acquireTogether(sources, terms, null));

    assertEquals(Reason.UNREACHABLE, thrown.reason());
    assertReleased("invoices", "orders");
  }

  /** The first of the two may still be on its way to the server. */
  @Test
  void anAttemptThatWasSentTwiceIsReleasedAlsoWhenTheSecondIsRefused() {
    answers = number -> number == 1 ? RespServer.HANG_UP : BUSY;

    assertFalse(lock.tryLock());

    assertEquals(2, attempts.get());
    assertReleased("orders");
  }

  /**
   * They go to the first node, the second one, and the first one again, twice to each that fails.
   */
  @Test
  void eachAttemptWithoutAnAnswerIsReleased() {
    AtomicInteger releases = new AtomicInteger();
    try (FakeCluster cluster = new FakeCluster(2);
        LockClient other = LockClient.create(cluster.uri(), OPTIONS)) {
      for (int i = 0; i < 2; i++) {
        int next = 1 - i;
        cluster.answer(
            i,
            command -> {
              if (isRelease(command)) {
                releases.incrementAndGet();
                return RELEASED;
              }
              if (attempts.incrementAndGet() > 4) {
                return BUSY;
              }
              cluster.tell(next, 1);
              return RespServer.HANG_UP;
            });
      }

      assertFalse(new RedisLock(other, cluster.nameAt(0, 1)).tryLock());

      await().atMost(BackgroundCall.LIVENESS).until(() -> other.status().pendingReleases() == 0);
      assertEquals(5, attempts.get());
      assertEquals(4, releases.get());
    }
  }

  /** The first of the two arrives after the first release, which finds nothing yet. */
  @Test
  void anAttemptThatWasSentTwiceIsReleasedUntilItIsFoundWhenTheSecondGetsAnError() {
    answers = number -> number == 1 ? RespServer.HANG_UP : RespServer.error("OOM on purpose");
    firstRelease = NOT_FOUND;

    LockException thrown = assertThrows(LockException.class, lock::tryLock);

    assertEquals(Reason.OUT_OF_MEMORY, thrown.reason());
    assertEquals(2, attempts.get());
    assertReleased("orders", "orders");
  }

  @Test
  void eachLockOfAGroupIsReleasedUntilItIsFoundWhenTheSecondTryGetsAnError() {
    answers = number -> number == 1 ? RespServer.HANG_UP : RespServer.error("OOM on purpose");
    firstRelease = NOT_FOUND;
    List<LeaseSource> sources =
        List.of(
            LeaseBackedLock.sourceOf(lock),
            LeaseBackedLock.sourceOf(new RedisLock(client, "invoices")));
    LeaseTerms terms = LeaseTerms.of(OPTIONS, Duration.ZERO, null, true);

    assertThrows(LockException.class, () -> sources.get(0).acquireTogether(sources, terms, null));

    assertEquals(2, attempts.get());
    assertReleased("invoices", "invoices", "orders", "orders");
  }

  @Test
  void anAttemptWhoseReplyCannotBeReadIsReleased() {
    answers = number -> RespServer.OK;

    assertThrows(LockException.class, lock::tryLock);

    assertReleased("orders");
  }

  /** What its script had written before stays. */
  @Test
  void anAttemptThatRedisRefusedInTheMiddleOfItsScriptIsReleased() {
    String refused = "ERR user_script:17: attempt to compare number with nil";
    answers = number -> RespServer.error(refused);

    LockException thrown = assertThrows(LockException.class, lock::tryLock);

    assertEquals(Reason.SCRIPT, thrown.reason(), thrown::getMessage);
    assertReleased("orders");
  }

  @Test
  void aRefusedAttemptIsNotReleased() {
    answers = number -> BUSY;

    assertFalse(lock.tryLock());

    assertReleased();
  }
}
