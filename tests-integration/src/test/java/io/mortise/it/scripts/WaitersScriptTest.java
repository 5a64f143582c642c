package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.scripts.LockScripts.Keys;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Those that wait for a plain lock: who is registered, and who is notified. */
@Timeout(60)
@Tag("redis-version")
class WaitersScriptTest {
  @RegisterExtension static final LockScripts redis = new LockScripts();

  private static final long LEASE = 60_000;

  /** The longest time until a registered waiter looks by itself. */
  private static final long LOOK = 5_000;

  private static final String REDISSON = "aaaaaaaa-0000-4000-8000-aaaaaaaaaaaa:1";
  private static final List<Long> NOTHING = List.of(0L, 0L);

  private final Keys keys = LockScripts.freshKeys();
  private final String a = id("a");
  private final String b = id("b");
  private final String c = id("c");

  /** Returns the id of a holder of a client of Mortise. */
  private static String id(String client) {
    return client.repeat(8) + "-0000-8000-8000-" + client.repeat(12) + ":1-2-3";
  }

  private String channelOf(String holder) {
    return keys.channel() + ":" + holder.substring(0, 36);
  }

  private List<String> registered() {
    return redis.jedis().zrange(keys.waiters(), 0, -1);
  }

  private void heldByA() {
    redis.acquire(keys, a, LEASE);
  }

  private void assertQueued(String waiter) {
    assertEquals(List.of(2L, LOOK), redis.await(keys, waiter, LEASE));
  }

  /** The messages that have been published, without those on the channel of the lock. */
  private List<String> ownMessages() {
    return redis.published().stream().filter(m -> !m.equals(keys.channel() + " 0")).toList();
  }

  @Test
  void waitersAreRegisteredInTheOrderOfTheirFirstAttempts() {
    heldByA();
    assertQueued(c);
    assertQueued(b);
    assertQueued(c);
    assertEquals(List.of(c, b), registered());
    redis.assertTtl(keys.waiters(), 30_000);
  }

  @Test
  void aWaiterJoinsBehindTheOthersAlsoAfterTheClockWasSetBack() {
    heldByA();
    double inAnHour = redis.micros() + 3_600_000_000.0;
    redis.jedis().zadd(keys.waiters(), inAnHour, c);
    assertQueued(b);
    assertEquals(List.of(c, b), registered());
  }

  @Test
  void oneThatDoesNotWaitIsNotRegistered() {
    heldByA();
    assertEquals(0L, redis.acquire(keys, b, LEASE).get(0));
    assertEquals(List.of(), registered());
  }

  @Test
  void theWaitEndsWithTheLeaseIfThatIsSooner() {
    redis.acquire(keys, a, 2_000);
    List<?> answer = redis.await(keys, b, LEASE);
    assertEquals(2L, answer.get(0));
    assertTrue((Long) answer.get(1) <= 2_000, answer::toString);
  }

  @Test
  void aWaiterLooksAfterAWhileBehindAHoldWithoutAnEnd() {
    redis.holdWithoutTtl(keys, a);
    assertQueued(b);
  }

  @Test
  void eachReleaseNotifiesTheNext() {
    heldByA();
    assertQueued(b);
    assertQueued(c);
    assertReleased(b, a);
    heldByA();
    assertReleased(c, a);
    assertEquals(List.of(b, c), registered());
    heldByA();
    redis.published();
    assertEquals(List.of(1L, 1L), redis.release(keys, a), "all have been notified");
  }

  @Test
  void oneThatComesInVainIsTheFirstAgain() {
    heldByA();
    assertQueued(b);
    assertQueued(c);
    assertReleased(b, a);
    heldByA();
    assertEquals(List.of(c, b), registered(), "while it has not come");
    assertQueued(b);
    assertEquals(List.of(b, c), registered());
    assertReleased(b, a);
  }

  private void assertReleased(String notified, String holder) {
    redis.published();
    List<?> answer = redis.release(keys, holder);
    assertEquals(List.of(1L, 2L, 1L), answer, "the test hears both channels");
    assertEquals(List.of(channelOf(notified) + " 0"), ownMessages());
  }

  @Test
  void aReleaseNotifiesTheChannelOfTheLockToo() {
    heldByA();
    assertQueued(b);
    redis.published();
    redis.release(keys, a);
    assertTrue(redis.published().contains(keys.channel() + " 0"), "for Redisson's waiters");
  }

  @Test
  void oneThatAcquiresIsNoLongerRegistered() {
    heldByA();
    assertQueued(b);
    assertQueued(c);
    redis.release(keys, a);
    assertEquals(1L, redis.await(keys, c, LEASE).get(0), "it comes first");
    assertEquals(List.of(b), registered());
    assertQueued(b);
    assertReleased(b, c);
  }

  @Test
  void aRepeatedAttemptOfTheHolderLeavesNoRegistration() {
    heldByA();
    redis.jedis().zadd(keys.waiters(), 1, a);
    assertEquals(1L, redis.await(keys, a, LEASE).get(0));
    assertEquals(List.of(), registered());
  }

  @Test
  void oneThatLeavesAFreeLockNotifiesTheNext() {
    heldByA();
    assertQueued(b);
    assertQueued(c);
    redis.release(keys, a);
    redis.published();
    assertEquals(List.of(3L, 0L), redis.release(keys, b));
    assertEquals(List.of(channelOf(c) + " 0"), redis.published());
    assertEquals(List.of(c), registered());
    assertEquals(NOTHING, redis.release(keys, b), "a repetition");
  }

  @Test
  void oneThatLeavesALockOfMortiseNotifiesNobody() {
    heldByA();
    assertQueued(b);
    assertQueued(c);
    redis.published();
    redis.release(keys, b);
    assertEquals(List.of(), redis.published());
    assertEquals(List.of(c), registered());
  }

  @Test
  void oneThatLostItsHoldByForceLearnsItAlsoWhenALateAttemptHasRegisteredIt() {
    redis.put(keys.forced(), b, LEASE);
    heldByA();
    assertQueued(b);
    assertEquals(List.of(2L, 0L), redis.release(keys, b));
    assertEquals(List.of(), registered());
  }

  @Test
  void behindRedissonNobodyIsRegistered() {
    redis.hold(keys, REDISSON, LEASE);
    assertEquals(0L, redis.await(keys, b, LEASE).get(0));
    assertEquals(List.of(), registered());
  }

  @Test
  void oneThatIsRegisteredKeepsItsPlaceBehindRedissonAndTheNextLooksWhenItLeaves() {
    heldByA();
    assertQueued(b);
    assertQueued(c);
    redis.release(keys, a);
    redis.hold(keys, REDISSON, LEASE);
    assertEquals(0L, redis.await(keys, b, LEASE).get(0), "it listens to the channel of the lock");
    assertEquals(List.of(b, c), registered());
    redis.published();
    redis.release(keys, b);
    assertEquals(List.of(channelOf(c) + " 0"), redis.published());
  }

  @Test
  void behindTheRestOfAMinimumNobodyIsRegistered() {
    heldByA();
    assertQueued(b);
    redis.published();
    List<?> kept = redis.keep(keys, a, 30_000);
    assertEquals(List.of(1L, 2L, 1L), kept);
    assertEquals(List.of(channelOf(b) + " 0"), ownMessages());
    List<?> answer = redis.await(keys, c, LEASE);
    assertEquals(0L, answer.get(0));
    assertTrue((Long) answer.get(1) <= 30_000, "until its end");
    assertEquals(List.of(b), registered());
  }

  @Test
  void aForcedReleaseNotifiesTheFirst() {
    heldByA();
    assertQueued(b);
    redis.published();
    assertEquals(1L, redis.force(keys, LEASE));
    assertEquals(List.of(channelOf(b) + " 0"), ownMessages());
  }

  @Test
  void whenTheNotifiedOneDoesNotComeTheNextIsNotified() {
    heldByA();
    assertQueued(b);
    assertQueued(c);
    redis.release(keys, a);
    redis.published();
    assertEquals(1, redis.notifyNext(keys));
    assertEquals(List.of(channelOf(c) + " 0"), redis.published());
    assertEquals(0, redis.notifyNext(keys), "nobody else waits");
    assertEquals(List.of(), redis.published());
  }

  @Test
  void nobodyIsNotifiedWhileAnotherHoldsTheLock() {
    heldByA();
    assertQueued(b);
    redis.published();
    assertEquals(0, redis.notifyNext(keys));
    assertEquals(List.of(), redis.published());
  }

  @Test
  void behindRedissonTheNextLooksOnce() {
    heldByA();
    assertQueued(b);
    redis.jedis().del(keys.lock());
    redis.hold(keys, REDISSON, LEASE);
    redis.published();
    assertEquals(0, redis.notifyNext(keys));
    assertEquals(List.of(channelOf(b) + " 0"), redis.published());
  }

  @Test
  void oneThatDidNotComeForADayIsForgotten() {
    heldByA();
    double day = 24.0 * 60 * 60 * 1_000_000;
    double notified = Math.pow(2, 52) + redis.micros();
    redis.jedis().zadd(keys.waiters(), notified - day - 1, c);
    redis.jedis().zadd(keys.waiters(), notified - day / 2, a);
    assertQueued(b);
    assertEquals(List.of(b, a), registered());
  }
}
