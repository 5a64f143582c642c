package io.mortise.it.connections;

import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static io.mortise.it.support.SharedRedis.calling;
import static io.mortise.it.support.SharedRedis.freshName;
import static io.mortise.it.support.SharedRedis.warm;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Elapsed;
import io.mortise.it.support.SharedRedis;
import io.mortise.scripts.Script;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Pitfalls 1, 12 and 19: the server has done what was asked, and the answer does not arrive. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class LostRepliesTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private final String name = freshName();
  private FaultProxy proxy;
  private LockClient client;
  private LockClient other;
  private RedisLock lock;
  private RedisLock lockOfOther;

  @BeforeEach
  void open() {
    proxy = FaultProxy.to(redis.server());
    other = redis.client();
    lockOfOther = new RedisLock(other, name);
    use(Duration.ofMinutes(1));
  }

  private void use(Duration lease) {
    if (client != null) {
      client.close();
    }
    LockOptions options =
        LockOptions.builder().lease(lease).commandTimeout(Duration.ofMillis(400)).build();
    client = LockClient.create(proxy.uri(), options);
    lock = new RedisLock(client, name);
    warm(client);
  }

  @AfterEach
  void close() {
    client.close();
    other.close();
    proxy.close();
  }

  @ParameterizedTest
  @EnumSource
  void anAcquisitionWhoseAnswerIsLostIsRepeatedAndCountsOnce(LossStyle style) throws Exception {
    proxy.loseNextReply(style, calling("lock/acquire"));

    assertTrue(lock.tryLock(Duration.ofSeconds(10)));

    assertEquals(1, proxy.repliesLost());
    assertEquals(1, lock.holdCount());
    assertEquals(1, redis.holders(name).size());
    assertEquals(List.of("1"), redis.server().command("HVALS", name));
    lock.unlock();
    assertFalse(redis.exists(name), "one release is enough");
    assertTrue(lockOfOther.tryLock(), "and others can have it");
    holdsFor(Duration.ofMillis(300), "undisturbed", lockOfOther::isHeldByCurrentThread);
    lockOfOther.unlock();
  }

  @Test
  void anAcquisitionThatGaveUpWithoutItsAnswerIsReleasedLongBeforeTheTtl() throws Exception {
    proxy.loseReplies(10, LossStyle.SILENT, calling("lock/acquire"));

    LockException thrown =
        assertThrows(LockException.class, () -> lock.tryLock(Duration.ofMillis(200)));

    assertEquals(Reason.UNREACHABLE, thrown.reason());
    assertTrue(proxy.repliesLost() >= 1);
    long waited = Elapsed.millisOf(() -> lockOfOther.tryLock(Duration.ofSeconds(20)));
    assertTrue(lockOfOther.isHeldByCurrentThread());
    assertTrue(waited < 5_000, () -> "it took " + waited + " ms, and the lease is a minute");
    lockOfOther.unlock();
  }

  @Test
  void anAttemptThatArrivesAfterTheReleaseIsReleasedToo() throws Exception {
    proxy.loseNextReply(LossStyle.SILENT, calling("lock/acquire"));
    assertTrue(lock.tryLock(Duration.ofSeconds(10)));
    String holder = (String) redis.holders(name).get(0);
    lock.unlock();

    acquireLate(holder);

    until("the late duplicate is released", () -> !redis.exists(name));
  }

  @Test
  void eachOfSeveralAttemptsThatArriveAfterTheReleaseIsReleasedToo() throws Exception {
    proxy.loseReplies(2, LossStyle.SILENT, calling("lock/acquire"));
    AsyncCall<Boolean> caller = AsyncCall.start(() -> lock.tryLock(Duration.ofMillis(700)));
    until("Redis has granted the lock", () -> redis.exists(name));
    String holder = (String) redis.holders(name).get(0);
    assertThrows(LockException.class, caller::get);
    until("it was released in the background", () -> !redis.exists(name));

    acquireLate(holder);

    until("the late duplicate is released", () -> !redis.exists(name));
  }

  /** The network delivers an attempt that its sender has long given up. */
  private void acquireLate(String holder) {
    List<?> answer =
        (List<?>)
            redis
                .server()
                .command(
                    "EVALSHA",
                    new String(Script.load("lock/acquire").sha1(), UTF_8),
                    "2",
                    name,
                    "redisson_lock_token:{" + name + "}",
                    holder,
                    "60000",
                    "600000",
                    "1");
    assertEquals(1L, answer.get(0), "Redis grants it");
  }

  @Test
  void aReleaseWhoseConnectionBreaksIsRepeatedAtOnce() {
    lock.lock();
    proxy.loseNextReply(LossStyle.CLOSE, calling("lock/release"));

    lock.unlock();

    assertEquals(1, proxy.repliesLost());
    assertFalse(redis.exists(name));
    IllegalMonitorStateException thrown =
        assertThrows(IllegalMonitorStateException.class, lock::unlock);
    assertTrue(thrown.getMessage().contains("released it already"), thrown.getMessage());
  }

  @Test
  void aReleaseWithoutAnAnswerIsToldAndItsRepetitionsHitNoNewerHold() throws Exception {
    use(Duration.ofSeconds(3));
    lock.lock();
    proxy.loseReplies(2, LossStyle.SILENT, calling("lock/release"));

    LockException thrown = assertThrows(LockException.class, lock::unlock);

    assertEquals(Reason.UNREACHABLE, thrown.reason());
    assertTrue(thrown.getMessage().contains(name), thrown.getMessage());
    assertTrue(thrown.getMessage().contains("repeated in the background"), thrown.getMessage());
    assertFalse(lock.isHeldByCurrentThread());
    assertTrue(lock.tryLock(), "the same client has it anew");
    Lease lease = lock.lease();
    holdsFor(
        Duration.ofMillis(500),
        "repetitions leave it",
        () -> redis.exists(name) && lease.isValid());
    until("they come to their end", () -> client.status().pendingReleases() == 0);
    assertTrue(lease.isValid() && redis.exists(name));
    lock.unlock();
    assertFalse(redis.exists(name));
  }

  @Test
  void aReleaseThatNeverArrivedIsRepeatedUntilItDoes() throws Exception {
    lock.lock();
    proxy.cut();
    assertThrows(LockException.class, lock::unlock);
    assertTrue(redis.exists(name));

    proxy.restore();

    until("the repetition arrived", () -> !redis.exists(name));
    until("and was the last", () -> client.status().pendingReleases() == 0);
  }

  @ParameterizedTest
  @EnumSource
  void aRenewalWithoutItsAnswerIsRepeatedAndTheHoldStands(LossStyle style) {
    use(Duration.ofMillis(1_500));
    lock.lock();
    Lease lease = lock.lease();
    proxy.loseNextReply(style, calling("lock/renew"));

    holdsFor(Duration.ofSeconds(2), "held beyond the first lease", lease::isValid);

    assertEquals(1, proxy.repliesLost());
    assertEquals(Lease.State.HELD, lease.state());
    assertTrue(redis.exists(name));
    lock.unlock();
    assertFalse(redis.exists(name));
  }

  @ParameterizedTest
  @EnumSource
  void aForceWhoseAnswerIsLostIsNotRepeatedAndTheNextHolderStands(LossStyle style)
      throws Exception {
    redis.holdAsStranger(name, 60_000);
    proxy.loseReplies(2, style, calling("lock/force"));
    AsyncCall<Boolean> next = AsyncCall.start(() -> lockOfOther.tryLock(Duration.ofSeconds(20)));
    until("it waits", () -> redis.subscribers(name) == 1);

    LockException thrown = assertThrows(LockException.class, lock::forceUnlock);

    assertEquals(Reason.UNREACHABLE, thrown.reason());
    assertTrue(thrown.getMessage().contains(name), thrown.getMessage());
    assertTrue(thrown.getMessage().contains("it is not known"), thrown.getMessage());
    assertEquals(1, proxy.repliesLost(), "it was sent once");
    assertTrue(next.get(), "the stranger was forced");
    holdsFor(Duration.ofMillis(500), "the next holder stands", () -> redis.exists(name));
    redis.server().command("DEL", name);
  }

  @Test
  void aForceOverAConnectionThatDiedMeanwhileIsDone() {
    redis.holdAsStranger(name, 60_000);
    proxy.closeConnections();

    assertTrue(lock.forceUnlock());

    assertFalse(redis.exists(name));
  }
}
