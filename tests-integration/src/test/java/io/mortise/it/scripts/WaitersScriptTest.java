package io.mortise.it.scripts;

import static java.nio.charset.StandardCharsets.UTF_8;
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

  private void assertPassedOverTo(String next, String waiter) {
    redis.published();
    List<?> answer = redis.passOver(keys, waiter);
    assertEquals(1L, answer.get(0));
    assertEquals(next, text(answer.get(1)));
    assertEquals(List.of(channelOf(next) + " 0"), redis.published());
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
    redis.assertTtl(keys.waiters(), 24 * 60 * 60 * 1000);
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
  void aReleaseNotifiesTheFirstAloneAndItStaysTheFirst() {
    heldByA();
    assertQueued(b);
    assertQueued(c);
    assertReleased(b, a);
    assertEquals(List.of(b, c), registered());
  }

  private void assertReleased(String notified, String holder) {
    redis.published();
    List<?> answer = redis.release(keys, holder);
    assertEquals(List.of(1L, 2L), answer.subList(0, 2), "the test hears both channels");
    assertEquals(notified, text(answer.get(2)));
    assertEquals(List.of(channelOf(notified) + " 0"), ownMessages());
  }

  private static String text(Object word) {
    return word instanceof byte[] bytes ? new String(bytes, UTF_8) : (String) word;
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
  void theFirstThatLeavesAFreeLockNotifiesTheNext() {
    heldByA();
    assertQueued(b);
    assertQueued(c);
    redis.release(keys, a);
    redis.published();
    assertEquals(List.of(1L, 0L), redis.release(keys, b));
    assertEquals(List.of(channelOf(c) + " 0"), redis.published());
    assertEquals(List.of(c), registered());
    assertEquals(NOTHING, redis.release(keys, b), "a repetition");
  }

  @Test
  void theFirstThatLeavesALockOfMortiseNotifiesNobody() {
    heldByA();
    assertQueued(b);
    assertQueued(c);
    redis.published();
    redis.release(keys, b);
    assertEquals(List.of(), redis.published());
    assertEquals(List.of(c), registered());
  }

  @Test
  void anotherThanTheFirstThatLeavesNotifiesNobody() {
    heldByA();
    assertQueued(b);
    assertQueued(c);
    redis.release(keys, a);
    redis.published();
    redis.release(keys, c);
    assertEquals(List.of(), redis.published());
  }

  @Test
  void behindRedissonNobodyIsRegistered() {
    redis.hold(keys, "aaaaaaaa-0000-4000-8000-aaaaaaaaaaaa:1", LEASE);
    assertEquals(0L, redis.await(keys, b, LEASE).get(0));
    assertEquals(List.of(), registered());
  }

  @Test
  void oneThatIsRegisteredKeepsItsPlaceBehindRedissonAndTheNextLooksWhenItLeaves() {
    heldByA();
    assertQueued(b);
    assertQueued(c);
    redis.release(keys, a);
    redis.hold(keys, "aaaaaaaa-0000-4000-8000-aaaaaaaaaaaa:1", LEASE);
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
    assertEquals(b, text(kept.get(2)));
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
  void oneThatDoesNotComeIsPassedOver() {
    heldByA();
    assertQueued(b);
    assertQueued(c);
    redis.release(keys, a);
    assertPassedOverTo(c, b);
    assertEquals(List.of(c), registered());
    assertEquals(List.of(0L), redis.passOver(keys, c), "nobody else waits");
    assertEquals(List.of(), registered());
  }

  @Test
  void nobodyIsPassedOverWhileTheLockIsHeld() {
    heldByA();
    assertQueued(b);
    redis.published();
    assertEquals(List.of(0L), redis.passOver(keys, b));
    assertEquals(List.of(b), registered());
    assertEquals(List.of(), redis.published());
  }

  @Test
  void oneThatIsAlreadyGoneCostsNobodyTheFirstPlace() {
    heldByA();
    assertQueued(c);
    redis.release(keys, a);
    assertPassedOverTo(c, b);
    assertEquals(List.of(c), registered());
  }
}
