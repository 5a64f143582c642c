package io.mortise.it.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.multilock.MultiLock;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Many locks of one client, taken by one command: all or none, whatever goes wrong. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class GroupAllOrNoneTest {
  private static final int NAMES = 10;
  private static final int MIDDLE = 5;

  @RegisterExtension static final MemberServers sites = new MemberServers(1);

  private List<RedisLock> members;
  private MultiLock lock;

  @BeforeEach
  void open() {
    members = members(NAMES);
    lock = new MultiLock(members);
  }

  private static List<RedisLock> members(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> new RedisLock(sites.here(0), "%s:%03d".formatted(sites.name(0), i)))
        .toList();
  }

  @AfterEach
  void nothingIsLeft() {
    Eventually.untilAsserted("nothing", () -> assertEquals(List.of(), sites.keysLeft(0)));
    sites.awaitIdle();
  }

  private static void warm(MultiLock lock) {
    lock.lock();
    lock.unlock();
    sites.server(0).resetStats();
  }

  // ---- what it costs

  @Test
  void eitherIsOneRoundTrip() {
    warm(lock);
    sites.proxy(0).delay(Duration.ofMillis(150));
    long start = System.nanoTime();
    lock.lock();
    long locked = System.nanoTime();
    lock.unlock();
    long unlocked = System.nanoTime();
    sites.proxy(0).restore();
    long toLock = (locked - start) / 1_000_000;
    long toUnlock = (unlocked - locked) / 1_000_000;
    System.out.printf("10 names, 300 ms a round trip: lock %d ms, unlock %d%n", toLock, toUnlock);
    assertTrue(toLock < 1_500, () -> toLock + " ms for what takes 3,000 one by one");
    assertTrue(toUnlock < 1_500, () -> toUnlock + " ms for what takes 3,000 one by one");
  }

  @ParameterizedTest
  @ValueSource(ints = {500, 1100})
  void hundredsOfNamesAreTakenByOneCommandToo(int count) throws Exception {
    MultiLock many = new MultiLock(members(count));
    warm(lock);
    many.lock();
    assertEquals(1, sites.calls(0));
    assertEquals(count, sites.keysLeft(0).size());
    assertFalse(sites.exists(0, sites.name(0)));
    RedisLock last = new RedisLock(sites.there(0), "%s:%03d".formatted(sites.name(0), count - 1));
    assertFalse(last.tryLock());
    many.unlock();
    assertEquals(List.of(), sites.keysLeft(0));
    assertTrue(last.tryLock());
    last.unlock();
  }

  // ---- all or none

  @Test
  void oneThatIsBusyInTheMiddleLeavesNothing() throws Exception {
    RedisLock busy = new RedisLock(sites.there(0), members.get(MIDDLE).name());
    busy.lock();
    assertFalse(lock.tryLock());
    assertFalse(lock.tryLock(Duration.ofMillis(200)));
    assertTrue(lock.tryAcquire().isEmpty());
    assertEquals(List.of(busy.name()), sites.keysLeft(0));
    assertEquals(0, members.stream().mapToInt(RedisLock::holdCount).sum());
    busy.lease().ensureValid();
    busy.unlock();
    assertTrue(lock.tryLock());
    lock.unlock();
  }

  @Test
  void oneThatAThreadOfThisProcessHoldsLeavesNothing() throws Exception {
    members.get(MIDDLE).lock();
    assertFalse(AsyncCall.start(lock::tryLock).get());
    assertFalse(AsyncCall.start(() -> lock.tryLock(Duration.ofMillis(200))).get());
    assertEquals(1, sites.keysLeft(0).size());
    assertTrue(lock.tryLock(), "the thread that holds it enters it again");
    assertEquals(2, members.get(MIDDLE).holdCount());
    lock.unlock();
    members.get(MIDDLE).unlock();
  }

  @Test
  void oneOfTheWrongTypeInTheMiddleLeavesNothing() {
    sites.server(0).command("SET", members.get(MIDDLE).name(), "text");
    LockException thrown = assertThrows(LockException.class, lock::lock);
    assertEquals(Reason.WRONG_TYPE, thrown.reason());
    assertEquals(List.of(members.get(MIDDLE).name()), sites.keysLeft(0));
    sites.server(0).command("DEL", members.get(MIDDLE).name());
  }

  // ---- faults

  @ParameterizedTest
  @EnumSource
  void aLostReplyOfOneAttemptLeavesNothingHeld(LossStyle style) throws Exception {
    sites.proxy(0).loseReplies(Integer.MAX_VALUE, style, MemberServers.calling("lock/acquire_all"));
    LockException thrown = assertThrows(LockException.class, lock::tryLock);
    assertEquals(Reason.UNREACHABLE, thrown.reason());
    Eventually.untilAsserted(
        "released long before the lease ends", () -> assertEquals(List.of(), sites.keysLeft(0)));
    assertEquals(0, members.stream().mapToInt(RedisLock::holdCount).sum());
    sites.restore();
  }

  @ParameterizedTest
  @EnumSource
  void aLostReplyWithinAWaitIsAskedForAgainAndOneUnlockIsEnough(LossStyle style) throws Exception {
    long before = sites.proxy(0).repliesLost();
    sites.proxy(0).loseNextReply(style, MemberServers.calling("lock/acquire_all"));
    assertTrue(lock.tryLock(MemberServers.LIVENESS));
    assertEquals(1, sites.proxy(0).repliesLost() - before);
    lock.unlock();
    assertEquals(List.of(), sites.keysLeft(0));
  }

  @Test
  void scriptsThatTheServerHasForgottenAreSentAgain() {
    warm(lock);
    sites.server(0).command("SCRIPT", "FLUSH");
    lock.lock();
    sites.server(0).command("SCRIPT", "FLUSH");
    lock.unlock();
    assertEquals(List.of(), sites.keysLeft(0));
    sites.server(0).command("SCRIPT", "FLUSH");
    Lease lease = lock.tryAcquire().orElseThrow();
    lease.close();
    assertEquals(Lease.State.RELEASED, lease.state());
  }

  @Test
  void aLostReplyOfTheUnlockIsToldForAllAndNoneStaysHeld() {
    lock.lock();
    sites.proxy(0).loseNextReply(LossStyle.SILENT, MemberServers.calling("lock/release"));
    LockException thrown = assertThrows(LockException.class, lock::unlock);
    assertEquals(NAMES - 1, thrown.getSuppressed().length, "one for each, besides the cause");
    assertEquals(0, members.stream().mapToInt(RedisLock::holdCount).sum());
  }
}
