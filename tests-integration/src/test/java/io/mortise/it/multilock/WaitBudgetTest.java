package io.mortise.it.multilock;

import static io.mortise.it.multilock.MemberServers.HOUR;
import static io.mortise.it.support.Eventually.LIVENESS;
import static io.mortise.it.support.ServerFault.CUT_OFF;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.EngineTypes;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.LateAnswer;
import io.mortise.multilock.MultiLock;
import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One wait covers all members. */
@Timeout(60)
class WaitBudgetTest {
  private static final Duration WAIT = Duration.ofSeconds(1);
  private static final Set<Integer> ALL = Set.of(0, 1, 2, 3, 4);

  @RegisterExtension static final MemberServers servers = new MemberServers(5);

  /** At least one wait, and much less than five. */
  private static void assertTakesOneWait(Callable<Boolean> call) throws Exception {
    Duration took = LateAnswer.repeat(WAIT, () -> timeOf(call));
    assertTrue(took.compareTo(WAIT) >= 0, took::toString);
    assertTrue(took.compareTo(WAIT.multipliedBy(4)) < 0, took::toString);
  }

  private static Duration timeOf(Callable<Boolean> call) throws Exception {
    long start = System.nanoTime();
    assertFalse(call.call());
    return Duration.ofNanos(System.nanoTime() - start);
  }

  private static void assertStrangers(Set<Integer> strangers) {
    assertEquals(strangers, servers.held());
    for (int i : strangers) {
      assertEquals(List.of("stranger:1"), servers.server(i).command("HKEYS", servers.name(i)));
    }
    assertEquals(0, servers.multi().holdCount());
    IntStream.range(0, 5).forEach(i -> assertEquals(0, servers.lock(i).holdCount()));
  }

  @Test
  void allMembersAreHeldByOthers() throws Exception {
    ALL.forEach(servers::holdAsStranger);
    assertTakesOneWait(() -> servers.multi().tryLock(WAIT));
    assertTakesOneWait(() -> servers.multi().acquire(WAIT).isPresent());
    assertTakesOneWait(
        () -> servers.multi().acquireAsync(WAIT).toCompletableFuture().join().isPresent());
    assertStrangers(ALL);
  }

  @Test
  void theLastMemberIsHeldByAnother() throws Exception {
    servers.holdAsStranger(4);
    assertTakesOneWait(() -> servers.multi().tryLock(WAIT));
    assertTakesOneWait(() -> servers.multi().acquire(WAIT, HOUR).isPresent());
    assertStrangers(Set.of(4));
  }

  @Test
  void allMembersOnOneServerAreHeldByOthers() throws Exception {
    List<RedisLock> members = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      members.add(new RedisLock(servers.here(0), servers.name(0) + ":" + i));
      servers.server(0).command("HSET", members.get(i).name(), "stranger:1", "1");
    }
    assertTakesOneWait(() -> new MultiLock(members).tryLock(WAIT));
    assertEquals(5, servers.keys(0).size());
  }

  /** Equal names may be one lock under two addresses; that is asked within the wait. */
  @Test
  void aSilentServerIsAskedForItsIdWithinTheWait() {
    LockOptions patient = LockOptions.builder().commandTimeout(Duration.ofSeconds(30)).build();
    LockClient first = servers.client(servers.server(0).uri(), patient);
    LockClient silent = servers.client(servers.proxyUris().get(4), patient);
    MultiLock lock =
        new MultiLock(
            new RedisLock(first, servers.name(0)), new RedisLock(silent, servers.name(0)));
    servers.begin(CUT_OFF, 4);
    try {
      assertTimeout(
          WAIT.multipliedBy(5), () -> assertThrows(LockException.class, () -> lock.tryLock(WAIT)));
    } finally {
      servers.restore(4);
    }
  }

  /** The first two have used the time up: that of the wait, and that of a last step after it. */
  @Test
  void aMemberIsNotAskedWhenTheTimeIsUp() {
    MultiLock lock = servers.multi();
    ALL.forEach(
        i -> {
          servers.server(i).resetStats();
          servers.proxy(i).delay(Direction.TO_CLIENT, Duration.ofMillis(170));
        });

    LockException slow =
        assertThrows(LockException.class, () -> lock.tryLock(Duration.ofMillis(100)));

    assertEquals(LockException.Reason.UNREACHABLE, slow.reason());
    long asked =
        ALL.stream().filter(i -> servers.server(i).commandStats().containsKey("evalsha")).count();
    assertTrue(asked <= 3, () -> asked + " were asked");
  }

  @Test
  void aWaitOfZeroIsOneAttempt() throws Exception {
    servers.holdAsStranger(2);
    MultiLock lock = servers.multi();
    assertTimeout(
        Duration.ofSeconds(5),
        () -> {
          assertFalse(lock.tryLock());
          assertFalse(lock.tryLock(Duration.ZERO));
          assertTrue(lock.tryAcquire().isEmpty());
        });
    assertStrangers(Set.of(2));
  }

  @Test
  void membersThatBecomeFreeOneAfterTheOtherAreAllAcquiredInOneWait() throws Exception {
    ALL.forEach(servers::holdAsStranger);
    MultiLock lock = servers.multi();
    AsyncCall<Boolean> waiter =
        AsyncCall.start(
            () -> {
              boolean acquired = lock.tryLock(LIVENESS);
              if (acquired) {
                lock.unlock();
              }
              return acquired;
            });
    for (int i = 4; i >= 0; i--) {
      waiter.awaitIn(EngineTypes.PARKED);
      assertFalse(waiter.isDone());
      servers.releaseAsStranger(i);
    }
    assertTrue(waiter.get());
    assertEquals(Set.of(), servers.held());
  }

  @Test
  void aServerThatHangsInTheMiddleCostsNoMoreThanTheWait() throws Exception {
    LockOptions longTimeout =
        MemberServers.options().commandTimeout(Duration.ofSeconds(15)).build();
    LockClient first = servers.client(servers.proxy(0).uri(), longTimeout);
    LockClient second = servers.client(servers.proxy(1).uri(), longTimeout);
    MultiLock lock =
        new MultiLock(
            new RedisLock(first, servers.name(0)), new RedisLock(second, servers.name(1)));
    servers.holdAsStranger(1);
    long start = System.nanoTime();
    AsyncCall<Boolean> waiter = AsyncCall.start(() -> lock.tryLock(Duration.ofSeconds(2)));
    servers.awaitFirstReleased();
    servers.server(0).pause();
    servers.releaseAsStranger(1);

    LockException thrown = assertThrows(LockException.class, waiter::get);

    long millis = (System.nanoTime() - start) / 1_000_000;
    assertTrue(millis < 8_000, () -> millis + " ms of 2 s; the command's time-out is 15 s");
    assertTrue(thrown.toString().contains(servers.name(0)), thrown::toString);
  }
}
