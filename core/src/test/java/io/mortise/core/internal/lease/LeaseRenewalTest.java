package io.mortise.core.internal.lease;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.Lease;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import io.mortise.scripts.Script;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Renewals and extensions whose reply is late, is lost, or refuses them. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // the test is about the time in between
class LeaseRenewalTest {
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration LATE = Duration.ofMillis(200);
  private static final Duration HOUR = Duration.ofHours(1);
  private static final LockOptions OPTIONS = LockOptions.builder().lease(LEASE).build();
  private static final String RENEW = new String(Script.load("lock/renew").sha1(), UTF_8);
  private static final String RELEASE = new String(Script.load("lock/release").sha1(), UTF_8);
  private static final String GRANTED = RespServer.integers(List.of(1L, 42L, 0L));
  private static final String RENEWED = RespServer.integers(List.of(1L));
  private static final String RELEASED = RespServer.integers(List.of(1L, 0L));

  private final AtomicInteger renewals = new AtomicInteger();

  /** By the number of the renewal, from 1. */
  private volatile IntFunction<String> answers = number -> RENEWED;

  private final RespServer server = new RespServer(this::answer);
  private final LockClient client = LockClient.create(server.uri(), OPTIONS);
  private final RedisLock lock = new RedisLock(client, "orders");

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private String answer(List<String> command) {
    if (command.get(1).equals(RENEW)) {
      return answers.apply(renewals.incrementAndGet());
    }
    return command.get(1).equals(RELEASE) ? RELEASED : GRANTED;
  }

  private static String late(String answer) {
    long endNanos = System.nanoTime() + LATE.toNanos();
    for (long left = LATE.toNanos(); left > 0; left = endNanos - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    return answer;
  }

  private static Duration withoutDrift(Duration lease) {
    return lease.minusNanos(new ClockDrift(OPTIONS.tuning().clockDrift()).nanos(lease.toNanos()));
  }

  private static void awaitLost(Lease lease) {
    await().atMost(BackgroundCall.LIVENESS).until(() -> lease.state() == State.LOST);
  }

  private void awaitReleased() {
    await()
        .atMost(BackgroundCall.LIVENESS)
        .until(() -> server.heard().stream().anyMatch(command -> command.get(1).equals(RELEASE)));
  }

  @Test
  void anExtensionCountsFromTheMomentBeforeItsRequest() {
    answers = number -> late(RENEWED);
    lock.withLease(Duration.ofMinutes(1)).lock();

    lock.withLease(HOUR).lock();

    Duration left = lock.lease().remaining();
    assertTrue(left.compareTo(withoutDrift(HOUR).minus(LATE)) <= 0, () -> left + " are left");
    lock.unlock();
    lock.unlock();
  }

  @Test
  void aRenewalCountsFromTheMomentBeforeItsRequest() {
    AtomicLong requestNanos = new AtomicLong();
    answers =
        number -> {
          if (number > 1) {
            return RespServer.SILENCE;
          }
          requestNanos.set(System.nanoTime());
          return late(RENEWED);
        };
    Lease lease = lock.tryAcquire().orElseThrow();

    awaitLost(lease);

    Duration kept = Duration.ofNanos(lease.loss().orElseThrow().atNanos() - requestNanos.get());
    assertTrue(kept.compareTo(withoutDrift(LEASE)) <= 0, () -> "kept for " + kept);
  }

  @Test
  void anExtensionWhoseReplyIsLostIsReleasedWhenTheHoldHasExpired() {
    answers = number -> RespServer.SILENCE;
    lock.withLease(Duration.ofSeconds(2)).lock();
    Lease lease = lock.lease();

    assertThrows(RuntimeException.class, () -> lock.tryLock(Duration.ofMillis(50), HOUR));

    awaitLost(lease);
    awaitReleased();
    assertThrows(LeaseLostException.class, lock::unlock);
  }

  /**
   * The next renewal would come after 20 minutes, or after 50 s: the scheduler looks at tasks that
   * are due in less than a minute only when they are.
   */
  @ParameterizedTest
  @ValueSource(ints = {3_600, 150})
  void aBrokenConnectionHasAHoldWithALongLeaseVerifiedSoon(int seconds) throws Exception {
    LockOptions options = LockOptions.builder().lease(Duration.ofSeconds(seconds)).build();
    try (LockClient patient = LockClient.create(server.uri(), options);
        Lease lease = new RedisLock(patient, "orders").tryAcquire().orElseThrow()) {
      server.restart();
      new RedisLock(patient, "others").tryAcquire().orElseThrow().close(); // it finds the break

      await().atMost(BackgroundCall.LIVENESS).until(() -> renewals.get() > 0);
      assertEquals(State.HELD, lease.state());
    }
  }

  /** After at most a tenth of the lease. With intervals of a third there would be three. */
  @Test
  void aRefusedRenewalIsRepeatedSoon() {
    answers = number -> RespServer.error("LOADING on purpose");
    Lease lease = lock.tryAcquire().orElseThrow();

    awaitLost(lease);

    assertTrue(renewals.get() >= 5, () -> renewals + " renewals");
    awaitReleased();
  }

  /** Not after a tenth of its lease, which is a day. */
  @Test
  void aRefusedVerificationOfALongLeaseIsRepeatedSoon() {
    answers =
        number ->
            number == 1 ? RespServer.error("LOADING on purpose") : RespServer.integers(List.of(0L));
    Lease lease = lock.withLease(Duration.ofDays(10)).tryAcquire().orElseThrow();

    awaitLost(lease);

    assertEquals(Reason.MISSING, lease.loss().orElseThrow().reason());
  }

  @Test
  void aHoldThatRedisDoesNotKnowIsLostAtTheReply() {
    answers = number -> RespServer.integers(List.of(0L));
    Lease lease = lock.tryAcquire().orElseThrow();

    awaitLost(lease);

    assertEquals(Reason.MISSING, lease.loss().orElseThrow().reason());
  }

  private OwnedLease acquireAndStopRenewal() throws InterruptedException {
    LeaseTerms terms = LeaseTerms.of(OPTIONS, Duration.ZERO, null, true);
    OwnedLease lease = LeaseBackedLock.sourceOf(lock).acquire(terms, null).orElseThrow();
    lease.stopRenewal("on purpose");
    return lease;
  }

  /** Its owner may still use it, as after {@code maxHold}. */
  @Test
  void aHoldThatIsNotRenewedAnyMoreIsVerified() throws Exception {
    answers = number -> RespServer.integers(List.of(2L));

    OwnedLease lease = acquireAndStopRenewal();

    awaitLost(lease);
    assertEquals(Reason.FORCED, lease.loss().orElseThrow().reason());
  }

  @Test
  void aHoldThatIsNotRenewedAnyMoreStaysAtRiskAndEndsWithItsLease() throws Exception {
    OwnedLease lease = acquireAndStopRenewal();

    lease.verifyNow();
    assertEquals(State.AT_RISK, lease.state());
    await().atMost(BackgroundCall.LIVENESS).until(() -> renewals.get() > 1);

    awaitLost(lease);
    assertEquals(Reason.EXPIRED, lease.loss().orElseThrow().reason());
    assertTrue(lease.loss().orElseThrow().detail().contains("on purpose"));
  }

  @Test
  void aHoldOfADeadThreadIsNotVerified() throws Exception {
    Thread owner = new Thread(() -> {}); // never started: it is not alive
    LeaseTerms terms = LeaseTerms.of(OPTIONS, Duration.ZERO, null, true);
    OwnedLease lease = LeaseBackedLock.sourceOf(lock).acquire(terms, owner).orElseThrow();

    lease.requestVerification();

    awaitLost(lease);
    assertEquals(Reason.EXPIRED, lease.loss().orElseThrow().reason());
    assertEquals(0, renewals.get());
  }

  /** And not at the next verification, after a third of the client's own lease. */
  @Test
  void anEndedLeaseIsReportedAtItsDeadline() throws Exception {
    try (LockClient longer = LockClient.create(server.uri())) {
      CompletableFuture<Duration> age = new CompletableFuture<>();
      RedisLock other = new RedisLock(longer, "invoices");
      other.tryAcquire().orElseThrow().close(); // there is a connection
      Lease lease = other.withLease(Duration.ofSeconds(2)).tryAcquire().orElseThrow();

      lease.onLost(loss -> age.complete(loss.age()));

      Duration late = age.get(BackgroundCall.LIVENESS.toSeconds(), TimeUnit.SECONDS);
      assertTrue(late.toSeconds() < 4, () -> "reported " + late + " after the deadline");
    }
  }
}
