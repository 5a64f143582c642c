package io.mortise.it.connections;

import static io.mortise.it.support.Elapsed.millisOf;
import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static io.mortise.it.support.SharedRedis.assertIdle;
import static io.mortise.it.support.SharedRedis.freshName;
import static io.mortise.it.support.SharedRedis.warm;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease.State;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.SharedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pitfalls 34 and 39: Redis goes away, and comes back with or without what it knew. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class OutageTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private final String name = freshName();
  private LockClient client = LockClient.create(redis.uri());

  private void use(LockOptions.Builder options) {
    client.close();
    client = LockClient.create(redis.uri(), options.build());
  }

  @AfterEach
  void comeBack() {
    if (!redis.server().isRunning()) {
      redis.server().restart();
    }
    client.close();
  }

  private AsyncCall<Boolean> cycle(String lockName) {
    RedisLock lock = new RedisLock(client, lockName);
    return AsyncCall.start(
        () -> {
          lock.lock();
          lock.unlock();
          return true;
        });
  }

  @Test
  void whoWaitsWhileRedisIsAwayForFiveSecondsGetsTheLockAfterwards() throws Exception {
    List<AsyncCall<Boolean>> waiters = new ArrayList<>();
    redis.holdAsStranger(name, 60_000);
    for (int i = 0; i < 5; i++) {
      waiters.add(cycle(name));
    }
    RedisLock bounded = new RedisLock(client, freshName());
    redis.holdAsStranger(bounded.name(), 60_000);
    waiters.add(AsyncCall.start(() -> bounded.tryLock(Duration.ofSeconds(40))));
    until("they wait", () -> redis.subscribers(name) == 1);
    until("they wait", () -> redis.subscribers(bounded.name()) == 1);

    redis.server().kill();
    holdsFor(
        Duration.ofSeconds(5),
        "nobody gives up",
        () -> waiters.stream().noneMatch(AsyncCall::isDone));
    redis.server().restart();

    for (AsyncCall<Boolean> waiter : waiters) {
      assertTrue(waiter.get());
    }
  }

  @Test
  void lockGivesUpAfterItsPatienceAndSaysSo() throws Exception {
    use(LockOptions.builder().outageTimeout(Duration.ofSeconds(1)));
    warm(client);
    redis.server().kill();
    RedisLock lock = new RedisLock(client, name);
    long millis =
        millisOf(
            () -> {
              LockException thrown = assertThrows(LockException.class, lock::lock);
              assertEquals(Reason.UNREACHABLE, thrown.reason());
              assertTrue(thrown.getMessage().contains("LockOptions.outageTimeout, PT1S"));
              assertTrue(thrown.getMessage().contains("refuses the connection"));
              return true;
            });
    assertTrue(millis >= 900 && millis < 4_000, () -> "it took " + millis + " ms");
  }

  @Test
  void manyThreadsInLineDoNotSpendTheirPatienceOneAfterTheOther() throws Exception {
    use(
        LockOptions.builder()
            .outageTimeout(Duration.ofSeconds(1))
            .commandTimeout(Duration.ofMillis(300)));
    warm(client);
    redis.server().pause();
    try {
      long millis =
          millisOf(
              () -> {
                List<AsyncCall<Boolean>> callers = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                  callers.add(cycle(name));
                }
                for (AsyncCall<Boolean> caller : callers) {
                  assertThrows(LockException.class, caller::get);
                }
                return true;
              });
      assertTrue(millis < 8_000, () -> "20 threads with 1 s of patience took " + millis + " ms");
    } finally {
      redis.server().resume();
    }
  }

  @Test
  void whoTimesOutInLineBehindAnUnansweredAttemptIsNotToldThatSomebodyHoldsTheLock()
      throws Exception {
    use(LockOptions.builder().commandTimeout(Duration.ofSeconds(10)));
    warm(client);
    redis.server().pause();
    AsyncCall<Boolean> first = cycle(name);
    try {
      until("the first has sent its attempt", () -> client.status().connectionsInUse() == 1);
      RedisLock lock = new RedisLock(client, name);
      LockException thrown =
          assertThrows(LockException.class, () -> lock.tryLock(Duration.ofMillis(200)));
      assertEquals(Reason.UNREACHABLE, thrown.reason());
    } finally {
      redis.server().resume();
    }
    assertTrue(first.get());
  }

  @Test // pitfall 39
  void aServerThatForgetsItsScriptsIsTaughtThemAgain() throws Exception {
    RedisLock lock = new RedisLock(client, name);
    lock.lock();
    redis.server().command("SCRIPT", "FLUSH");
    lock.unlock();
    redis.server().resetStats();
    redis.server().command("SCRIPT", "FLUSH");
    assertTrue(lock.tryLock());
    assertEquals(1, redis.calls("evalsha"));
    assertEquals(1, redis.calls("eval"));
    redis.server().command("SCRIPT", "FLUSH");
    assertTrue(lock.isLocked());
    assertTrue(lock.remainingLease().isPresent());
    redis.server().command("SCRIPT", "FLUSH");
    assertTrue(lock.forceUnlock());
    assertFalse(redis.exists(name));
  }

  @Test // pitfall 39
  void renewalsSurviveAServerThatForgetsItsScripts() {
    use(LockOptions.builder().lease(Duration.ofMillis(1800)));
    RedisLock lock = new RedisLock(client, name);
    lock.lock();
    redis.server().resetStats();
    holdsFor(
        Duration.ofSeconds(3),
        "renewed",
        () -> {
          redis.server().command("SCRIPT", "FLUSH");
          return lock.isHeldByCurrentThread();
        });
    assertTrue(redis.calls("eval") >= 2);
    lock.unlock();
  }

  @Test // pitfall 39
  void theNextLockAfterARestartWorksAtOnce() throws Exception {
    RedisLock lock = new RedisLock(client, name);
    for (int i = 0; i < 3; i++) {
      warm(client);
      redis.server().kill();
      redis.server().restart();
      long millis = millisOf(lock::tryLock);
      assertTrue(lock.isHeldByCurrentThread());
      assertTrue(millis < 2_000, () -> "it took " + millis + " ms");
      lock.unlock();
    }
  }

  @Test
  void idleConnectionsThatWereKilledCostOneAttempt() throws Exception {
    int connections = 8;
    use(LockOptions.builder().maxConnections(connections).commandTimeout(Duration.ofSeconds(10)));
    List<AsyncCall<Boolean>> callers = new ArrayList<>();
    CyclicBarrier start = new CyclicBarrier(connections);
    redis.server().pause();
    for (int i = 0; i < connections; i++) {
      callers.add(
          AsyncCall.start(
              () -> {
                start.await();
                return new RedisLock(client, freshName()).tryLock();
              }));
    }
    until("each has its connection", () -> client.status().connectionsInUse() == connections);
    redis.server().resume();
    for (AsyncCall<Boolean> caller : callers) {
      assertTrue(caller.get());
    }
    assertTrue(clients() >= connections, () -> clients() + " connections");
    redis.server().command("CLIENT", "KILL", "TYPE", "normal");
    redis.server().resetStats();

    RedisLock lock = new RedisLock(client, name);
    assertTrue(lock.tryLock());
    lock.unlock();

    assertFalse(redis.exists(name));
    assertTrue(clients() < connections, () -> clients() + " connections");
    assertTrue(redis.calls("evalsha") <= 4, () -> redis.calls("evalsha") + " commands");
  }

  private static long clients() {
    return ((String) redis.server().command("CLIENT", "LIST", "TYPE", "normal")).lines().count();
  }

  @Test
  void aPauseShorterThanTheLeaseCostsNoHold() throws Exception {
    use(
        LockOptions.builder()
            .lease(Duration.ofSeconds(3))
            .commandTimeout(Duration.ofMillis(300))
            .subscriptionLinger(Duration.ZERO));
    RedisLock lock = new RedisLock(client, name);
    lock.lock();
    redis.server().pause();
    try {
      until("renewals fail", () -> lock.lease().state() == State.AT_RISK);
    } finally {
      redis.server().resume();
    }
    until("it is held", () -> lock.lease().state() == State.HELD);
    lock.unlock();
    assertIdle(client);
  }
}
