package io.mortise.it.multilock;

import static io.mortise.it.multilock.MemberServers.HOUR;
import static io.mortise.it.support.Eventually.LIVENESS;
import static io.mortise.it.support.SharedRedis.calling;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.spi.LockName;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LateAnswer;
import io.mortise.multilock.MultiLock;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Many locks of one client are acquired by one command: all or none, whatever fails. */
@Timeout(60)
class GroupAllOrNoneTest {
  private static final int NAMES = 10;
  private static final int MIDDLE = 5;

  @RegisterExtension static final MemberServers servers = new MemberServers(1);

  private final List<RedisLock> members = members(NAMES);
  private final MultiLock lock = new MultiLock(members);

  private static List<RedisLock> members(int count) {
    return members(servers.here(0), count);
  }

  private static List<RedisLock> members(LockClient client, int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> new RedisLock(client, "%s:%03d".formatted(servers.name(0), i)))
        .toList();
  }

  @AfterEach
  void noKeyIsLeft() {
    Eventually.untilAsserted("no key is left", () -> assertEquals(List.of(), servers.keys(0)));
  }

  private static void warm(MultiLock lock) {
    lock.lock();
    lock.unlock();
    servers.server(0).resetStats();
  }

  // ---- round trips

  @Test
  void lockAndUnlockAreOneRoundTripEach() {
    warm(lock);
    servers.proxy(0).delay(Duration.ofMillis(150));
    long start = System.nanoTime();
    lock.lock();
    long locked = System.nanoTime();
    lock.unlock();
    long unlocked = System.nanoTime();
    servers.proxy(0).restore();
    long toLock = (locked - start) / 1_000_000;
    long toUnlock = (unlocked - locked) / 1_000_000;
    System.out.printf("10 names, 300 ms a round trip: lock %d ms, unlock %d%n", toLock, toUnlock);
    assertTrue(toLock < 1_500, () -> toLock + " ms; one by one takes 3,000");
    assertTrue(toUnlock < 1_500, () -> toUnlock + " ms; one by one takes 3,000");
  }

  @ParameterizedTest
  @ValueSource(ints = {500, 1100})
  void hundredsOfNamesAreAcquiredByOneCommandToo(int count) throws Exception {
    // No renewal comes in between, and no command is repeated.
    Duration slow = Duration.ofSeconds(20);
    LockOptions patient = MemberServers.options().lease(HOUR).commandTimeout(slow).build();
    LockClient here = servers.client(servers.proxy(0).uri(), patient);
    MultiLock many = new MultiLock(members(here, count));
    warm(new MultiLock(members(here, NAMES)));
    many.lock();
    assertEquals(1, servers.scriptCalls(0));
    assertEquals(count, servers.keys(0).size());
    assertFalse(servers.exists(servers.name(0), 0));
    RedisLock last =
        new RedisLock(servers.there(0), "%s:%03d".formatted(servers.name(0), count - 1));
    assertFalse(last.tryLock());
    many.unlock();
    assertEquals(List.of(), servers.keys(0));
    assertTrue(last.tryLock());
    last.unlock();
  }

  // ---- each is released

  @Test
  void aHoldThatIsLostDoesNotKeepTheOthersFromBeingReleased() throws Exception {
    Lease lease = lock.tryAcquire().orElseThrow();
    servers.server(0).command("DEL", members.get(MIDDLE).name());
    assertThrows(LeaseLostException.class, lease::close);
    assertEquals(List.of(), servers.keys(0));
  }

  @Test
  void aKeyOfAnotherTypeDoesNotKeepTheOthersFromBeingReleased() throws Exception {
    Lease lease = lock.tryAcquire().orElseThrow();
    String waiters = new LockName(members.get(MIDDLE).name()).waitersKey();
    servers.server(0).command("SET", waiters, "foreign");
    LockException thrown = assertThrows(LockException.class, lease::close);
    assertTrue(thrown.getMessage().contains(members.get(MIDDLE).name()), thrown::getMessage);
    assertEquals(Set.of(waiters, members.get(MIDDLE).name()), Set.copyOf(servers.keys(0)));
    servers.server(0).command("DEL", waiters);
    Eventually.until("released in the background", () -> servers.keys(0).isEmpty());
  }

  @Test
  void theWaitersOfEachAreNotified() throws Exception {
    lock.lock();
    List<AsyncCall<Boolean>> waiters = new ArrayList<>();
    for (RedisLock member : List.of(members.get(0), members.get(NAMES - 1))) {
      RedisLock there = new RedisLock(servers.there(0), member.name());
      waiters.add(
          AsyncCall.start(
              () -> {
                there.lock();
                there.unlock();
                return true;
              }));
      Eventually.until(
          "it waits", () -> servers.exists(new LockName(member.name()).waitersKey(), 0));
    }
    lock.unlock();
    for (AsyncCall<Boolean> waiter : waiters) {
      assertTrue(waiter.get());
    }
  }

  // ---- all or none

  @Test
  void aBusyMemberInTheMiddleLeavesNothing() throws Exception {
    RedisLock busy = new RedisLock(servers.there(0), members.get(MIDDLE).name());
    busy.lock();
    assertFalse(lock.tryLock());
    assertFalse(LateAnswer.tryLock(lock, Duration.ofMillis(200)));
    assertTrue(lock.tryAcquire().isEmpty());
    assertEquals(List.of(busy.name()), servers.keys(0));
    assertEquals(0, members.stream().mapToInt(RedisLock::holdCount).sum());
    busy.lease().ensureValid();
    busy.unlock();
    assertTrue(lock.tryLock());
    lock.unlock();
  }

  @Test
  void aMemberHeldByAThreadOfThisProcessLeavesNothing() throws Exception {
    members.get(MIDDLE).lock();
    assertFalse(AsyncCall.start(lock::tryLock).get());
    assertFalse(AsyncCall.start(() -> LateAnswer.tryLock(lock, Duration.ofMillis(200))).get());
    assertEquals(1, servers.keys(0).size());
    assertTrue(lock.tryLock(), "the thread that holds it re-enters");
    assertEquals(2, members.get(MIDDLE).holdCount());
    lock.unlock();
    members.get(MIDDLE).unlock();
  }

  @Test
  void aMemberOfTheWrongTypeInTheMiddleLeavesNothing() {
    servers.server(0).command("SET", members.get(MIDDLE).name(), "text");
    LockException thrown = assertThrows(LockException.class, lock::lock);
    assertEquals(Reason.WRONG_TYPE, thrown.reason());
    assertEquals(List.of(members.get(MIDDLE).name()), servers.keys(0));
    servers.server(0).command("DEL", members.get(MIDDLE).name());
  }

  // ---- faults

  @ParameterizedTest
  @EnumSource
  void aLostReplyOfOneAttemptLeavesNothingHeld(LossStyle style) throws Exception {
    servers.proxy(0).loseReplies(Integer.MAX_VALUE, style, calling("lock/acquire_all"));
    LockException thrown = assertThrows(LockException.class, lock::tryLock);
    assertEquals(Reason.UNREACHABLE, thrown.reason());
    Eventually.untilAsserted(
        "released long before the lease ends", () -> assertEquals(List.of(), servers.keys(0)));
    assertEquals(0, members.stream().mapToInt(RedisLock::holdCount).sum());
  }

  @ParameterizedTest
  @EnumSource
  void aLostReplyWithinAWaitIsRequestedAgainAndOneUnlockIsEnough(LossStyle style) throws Exception {
    long before = servers.proxy(0).repliesLost();
    servers.proxy(0).loseNextReply(style, calling("lock/acquire_all"));
    assertTrue(lock.tryLock(LIVENESS));
    assertEquals(1, servers.proxy(0).repliesLost() - before);
    lock.unlock();
    assertEquals(List.of(), servers.keys(0));
  }

  @Test
  void scriptsThatTheServerHasForgottenAreSentAgain() {
    warm(lock);
    servers.server(0).command("SCRIPT", "FLUSH");
    lock.lock();
    servers.server(0).command("SCRIPT", "FLUSH");
    lock.unlock();
    assertEquals(List.of(), servers.keys(0));
    servers.server(0).command("SCRIPT", "FLUSH");
    Lease lease = lock.tryAcquire().orElseThrow();
    lease.close();
    assertEquals(Lease.State.RELEASED, lease.state());
  }

  @Test
  void aLostReplyOfTheUnlockIsReportedForAllAndNoneStaysHeld() {
    lock.lock();
    servers.proxy(0).loseNextReply(LossStyle.SILENT, calling("lock/release"));
    LockException thrown = assertThrows(LockException.class, lock::unlock);
    assertEquals(
        NAMES - 1, thrown.getSuppressed().length, "one for each, in addition to the cause");
    assertEquals(0, members.stream().mapToInt(RedisLock::holdCount).sum());
  }
}
