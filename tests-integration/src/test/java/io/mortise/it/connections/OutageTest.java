package io.mortise.it.connections;

import static io.mortise.it.support.Elapsed.millisOf;
import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease.State;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Redis stops, and comes back with or without its data and scripts. */
@Timeout(60)
class OutageTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @RegisterExtension final LockFixture tested = LockFixture.direct(redis, LockOptions.builder());

  private final String name = tested.name();

  @AfterEach
  void restartServer() {
    if (!redis.server().isRunning()) {
      redis.server().restart();
    }
  }

  @Test
  void waitersGetTheLockAfterAnOutageOfFiveSeconds() throws Exception {
    List<AsyncCall<Void>> waiters = new ArrayList<>();
    redis.holdAsStranger(name, 60_000);
    for (int i = 0; i < 5; i++) {
      waiters.add(AsyncCall.cycle(tested.lock()));
    }
    RedisLock bounded = new RedisLock(tested.client(), Names.fresh());
    redis.holdAsStranger(bounded.name(), 60_000);
    waiters.add(AsyncCall.run(() -> assertTrue(bounded.tryLock(Duration.ofSeconds(40)))));
    redis.awaitSubscriber(name);
    redis.awaitSubscriber(bounded.name());

    redis.server().kill();
    holdsFor(
        Duration.ofSeconds(5), "all wait", () -> waiters.stream().noneMatch(AsyncCall::isDone));
    redis.server().restart();

    AsyncCall.join(waiters);
  }

  @Test
  void lockThrowsAfterItsOutageTimeoutAndSaysSo() throws Exception {
    RedisLock lock = tested.use(LockOptions.builder().outageTimeout(Duration.ofSeconds(1)));
    tested.warm();
    redis.server().kill();
    long millis =
        millisOf(
            () -> {
              LockException thrown =
                  assertThrows(LockException.class, AsyncCall.run(lock::lock)::get);
              assertEquals(Reason.UNREACHABLE, thrown.reason());
              assertTrue(thrown.getMessage().contains("LockOptions.outageTimeout, PT1S"));
              assertTrue(thrown.getMessage().contains("refuses the connection"));
            });
    assertTrue(millis >= 900 && millis < 4_000, () -> "it took " + millis + " ms");
  }

  @Test
  void theOutageTimeoutsOfQueuedThreadsDoNotAddUp() throws Exception {
    RedisLock lock =
        tested.use(
            LockOptions.builder()
                .outageTimeout(Duration.ofSeconds(1))
                .commandTimeout(Duration.ofMillis(300)));
    tested.warm();
    redis.server().pause();
    try {
      long millis =
          millisOf(
              () -> {
                List<AsyncCall<Void>> callers =
                    Stream.generate(() -> AsyncCall.cycle(lock)).limit(20).toList();
                callers.forEach(caller -> assertThrows(LockException.class, caller::get));
              });
      assertTrue(millis < 8_000, () -> "20 threads took " + millis + " ms");
    } finally {
      redis.server().resume();
    }
  }

  @Test
  void aTimeoutInTheQueueBehindAnUnansweredAttemptIsNoFalse() throws Exception {
    RedisLock lock = tested.use(LockOptions.builder().commandTimeout(Duration.ofSeconds(10)));
    tested.warm();
    redis.server().pause();
    AsyncCall<Void> first = AsyncCall.cycle(lock);
    try {
      until("the first has sent its attempt", () -> connectionsInUse() == 1);
      LockException thrown =
          assertThrows(LockException.class, () -> lock.tryLock(Duration.ofMillis(200)));
      assertEquals(Reason.UNREACHABLE, thrown.reason());
    } finally {
      redis.server().resume();
    }
    first.get();
  }

  private int connectionsInUse() {
    return tested.client().status().connectionsInUse();
  }

  @Test
  void aServerThatHasLostItsScriptsGetsThemAgain() throws Exception {
    RedisLock lock = tested.lock();
    lock.lock();
    redis.command("SCRIPT", "FLUSH");
    lock.unlock();
    redis.resetStats();
    redis.command("SCRIPT", "FLUSH");
    assertTrue(lock.tryLock());
    assertEquals(1, redis.calls("evalsha"));
    assertEquals(1, redis.calls("eval"));
    redis.command("SCRIPT", "FLUSH");
    assertTrue(lock.isLocked());
    assertTrue(lock.remainingLease().isPresent());
    redis.command("SCRIPT", "FLUSH");
    assertTrue(lock.forceUnlock());
    assertFalse(redis.exists(name));
  }

  @Test
  void renewalsGoOnWhenTheServerLosesItsScripts() {
    RedisLock lock = tested.use(LockOptions.builder().lease(Duration.ofMillis(4_500)));
    lock.lock();
    redis.resetStats();
    holdsFor(
        Duration.ofSeconds(5),
        "renewed",
        () -> {
          redis.command("SCRIPT", "FLUSH");
          return lock.isHeldByCurrentThread();
        });
    assertTrue(redis.calls("eval") >= 2);
    lock.unlock();
  }

  @Test
  void theNextLockAfterARestartWorksAtOnce() throws Exception {
    RedisLock lock = tested.lock();
    for (int i = 0; i < 3; i++) {
      tested.warm();
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
    RedisLock lock =
        tested.use(
            LockOptions.builder()
                .tuning(t -> t.maxConnections(connections))
                .commandTimeout(Duration.ofSeconds(10)));
    List<AsyncCall<Void>> callers = new ArrayList<>();
    CyclicBarrier start = new CyclicBarrier(connections);
    redis.server().pause();
    for (int i = 0; i < connections; i++) {
      callers.add(
          AsyncCall.run(
              () -> {
                start.await();
                assertTrue(new RedisLock(tested.client(), Names.fresh()).tryLock());
              }));
    }
    until("each has its connection", () -> connectionsInUse() == connections);
    redis.server().resume();
    AsyncCall.join(callers);
    assertTrue(clients() >= connections, () -> clients() + " connections");
    redis.command("CLIENT", "KILL", "TYPE", "normal");
    redis.resetStats();

    assertTrue(lock.tryLock());
    lock.unlock();

    assertFalse(redis.exists(name));
    assertTrue(clients() < connections, () -> clients() + " connections");
    assertTrue(redis.calls("evalsha") <= 4, () -> redis.calls("evalsha") + " commands");
  }

  private static long clients() {
    return ((String) redis.command("CLIENT", "LIST", "TYPE", "normal")).lines().count();
  }

  @Test
  void aPauseShorterThanTheLeaseCostsNoHold() throws Exception {
    RedisLock lock =
        tested.use(
            LockOptions.builder()
                .lease(Duration.ofSeconds(6))
                .commandTimeout(Duration.ofMillis(1_500))
                .tuning(t -> t.subscriptionLinger(Duration.ZERO)));
    lock.lock();
    redis.server().pause();
    try {
      until("renewals fail", () -> lock.lease().state() == State.AT_RISK);
    } finally {
      redis.server().resume();
    }
    until("it is held", () -> lock.lease().state() == State.HELD);
    lock.unlock();
    ClientResources.awaitNone(tested.client());
  }
}
