package io.mortise.it.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.EngineTypes;
import io.mortise.it.support.AsyncCall;
import io.mortise.multilock.MultiLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pitfall 21: one wait covers all members. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class WaitBudgetTest {
  private static final Duration WAIT = Duration.ofSeconds(1);
  private static final Set<Integer> ALL = Set.of(0, 1, 2, 3, 4);

  @RegisterExtension static final MemberServers sites = new MemberServers(5);

  /** Not before the wait is over, and long before five of them are. */
  private static void assertTakesOneWait(Callable<Boolean> call) throws Exception {
    long start = System.nanoTime();
    assertFalse(call.call());
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    assertTrue(took.compareTo(WAIT) >= 0, took::toString);
    assertTrue(took.compareTo(WAIT.multipliedBy(4)) < 0, took::toString);
  }

  private static void assertStrangers(Set<Integer> places) {
    assertEquals(places, sites.held());
    for (int i : places) {
      assertEquals(List.of("stranger:1"), sites.server(i).command("HKEYS", sites.name(i)));
    }
    assertEquals(0, sites.multi().holdCount());
    IntStream.range(0, 5).forEach(i -> assertEquals(0, sites.lock(i).holdCount()));
  }

  @Test
  void allMembersAreHeldByOthers() throws Exception {
    ALL.forEach(sites::holdAsStranger);
    assertTakesOneWait(() -> sites.multi().tryLock(WAIT));
    assertTakesOneWait(() -> sites.multi().acquire(WAIT).isPresent());
    assertTakesOneWait(
        () -> sites.multi().acquireAsync(WAIT).toCompletableFuture().join().isPresent());
    assertStrangers(ALL);
    sites.awaitIdle();
  }

  @Test
  void theLastMemberIsHeldByAnother() throws Exception {
    sites.holdAsStranger(4);
    assertTakesOneWait(() -> sites.multi().tryLock(WAIT));
    assertTakesOneWait(() -> sites.multi().acquire(WAIT, MemberServers.HOUR).isPresent());
    assertStrangers(Set.of(4));
    sites.awaitIdle();
  }

  @Test
  void allMembersOnOneServerAreHeldByOthers() throws Exception {
    List<RedisLock> members = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      members.add(new RedisLock(sites.here(0), sites.name(0) + ":" + i));
      sites.server(0).command("HSET", members.get(i).name(), "stranger:1", "1");
    }
    assertTakesOneWait(() -> new MultiLock(members).tryLock(WAIT));
    assertEquals(5, sites.keysLeft(0).size());
    sites.awaitIdle();
  }

  @Test
  void aWaitOfZeroIsOneAttempt() throws Exception {
    sites.holdAsStranger(2);
    MultiLock lock = sites.multi();
    long start = System.nanoTime();
    assertFalse(lock.tryLock());
    assertFalse(lock.tryLock(Duration.ZERO));
    assertTrue(lock.tryAcquire().isEmpty());
    long millis = (System.nanoTime() - start) / 1_000_000;
    assertTrue(millis < 5_000, () -> millis + " ms, and nothing was to be waited for");
    assertStrangers(Set.of(2));
  }

  @Test
  void membersThatBecomeFreeOneAfterTheOtherAreAllTakenInOneWait() throws Exception {
    ALL.forEach(sites::holdAsStranger);
    MultiLock lock = sites.multi();
    AsyncCall<Boolean> waiter =
        AsyncCall.start(
            () -> {
              boolean taken = lock.tryLock(MemberServers.LIVENESS);
              if (taken) {
                lock.unlock();
              }
              return taken;
            });
    for (int i = 4; i >= 0; i--) {
      waiter.awaitIn(EngineTypes.PARKED);
      assertFalse(waiter.isDone());
      sites.releaseAsStranger(i);
    }
    assertTrue(waiter.get());
    assertEquals(Set.of(), sites.held());
  }

  @Test
  void aServerThatStopsAnsweringInTheMiddleCostsNoMoreThanTheWait() throws Exception {
    LockOptions patient = MemberServers.options().commandTimeout(Duration.ofSeconds(15)).build();
    try (LockClient first = LockClient.create(sites.proxy(0).uri(), patient);
        LockClient second = LockClient.create(sites.proxy(1).uri(), patient)) {
      MultiLock lock =
          new MultiLock(new RedisLock(first, sites.name(0)), new RedisLock(second, sites.name(1)));
      sites.holdAsStranger(1);
      long start = System.nanoTime();
      AsyncCall<Boolean> waiter = AsyncCall.start(() -> lock.tryLock(Duration.ofSeconds(2)));
      sites.awaitFirstGivenBack();
      sites.server(0).pause();
      sites.releaseAsStranger(1);

      LockException thrown = assertThrows(LockException.class, waiter::get);

      long millis = (System.nanoTime() - start) / 1_000_000;
      assertTrue(millis < 8_000, () -> millis + " ms of 2 s; the command's time-out is 15 s");
      assertTrue(thrown.toString().contains(sites.name(0)), thrown::toString);
      sites.restore();
      sites.awaitHeld(Set.of());
    }
  }
}
