package io.mortise.it.fairlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.TwoClients;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands that waiting costs, counted; and the repair of an inconsistent queue. */
@Timeout(60)
class FairCostTest {
  /** The commands of the client; all others are inside scripts, or the test's. */
  private static final Set<String> SENT = Set.of("evalsha", "subscribe", "unsubscribe", "publish");

  private static final Duration HOUR = Duration.ofHours(1);

  /** A waiter joins again with its heartbeat, four times in this. */
  private static final Duration REPAIR_TIMEOUT = Duration.ofSeconds(4);

  /** New ones for each test: the channels of another test would end in the middle of this one. */
  @RegisterExtension
  @Order(1)
  final TwoClients clients = new TwoClients();

  @RegisterExtension
  @Order(2)
  final ServedOrder order = new ServedOrder(clients, HOUR);

  private Map<String, Long> sent() {
    Map<String, Long> sent = new HashMap<>(order.server().commandStats());
    sent.keySet().retainAll(SENT);
    return sent;
  }

  /**
   * With any number of waiters: the release, the attempt of the head, and one message. The last one
   * leaves an empty queue, and notifies the waiters for a plain lock.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 10, 60})
  void aHandOverCostsTwoScriptsAndOneMessage(int waiters) {
    RedisFairLock lock = order.here();
    lock.lock();
    String[] all = order.queueAll(waiters, i -> i % 2 == 0 ? order.there() : order.here());
    awaitQuiet();
    order.server().resetStats();
    lock.unlock();
    order.awaitServed(all);
    awaitQuiet();
    Map<String, Long> sent = sent();
    assertEquals(waiters + 1L, sent.get("publish"), sent::toString);
    // The second of two asks once more after the head, if that takes long.
    assertEquals(2L * waiters + 1, sent.get("evalsha"), sent::toString);
  }

  @Test
  void aWaiterAsksTwoOrThreeTimesAndThenSendsNothing() {
    RedisFairLock lock = order.here();
    lock.lock();
    awaitQuiet();
    order.server().resetStats();
    order.queueAll(20, i -> order.there());
    awaitQuiet();
    // One attempt that joins, one when the subscription is confirmed, which may come in between.
    assertTrue(sent().get("evalsha") <= 3 * 20, sent()::toString);
    // The channels that were reserved for more waiters are given up when no waiter comes.
    await().until(() -> clients.there().status().channels() == 20);
    order.server().resetStats();
    Duration quiet = Duration.ofSeconds(1);
    await().during(quiet).atMost(quiet.multipliedBy(5)).until(() -> sent().isEmpty());
    lock.unlock();
  }

  /** The channels of the next eight waiters are reserved with one command. */
  @Test
  void aClientThatWaitsRepeatedlyAsksOnceBeforeItParksAndSeldomSubscribes() {
    RedisFairLock lock = order.here();
    int cycles = 24;
    List<String> served = new ArrayList<>();
    for (int i = -2; i < cycles; i++) { // nothing is reserved for the first two
      if (i == 0) {
        awaitQuiet();
        order.server().resetStats();
      }
      lock.lock();
      served.add("w" + i);
      order.queue("w" + i, order.there());
      lock.unlock();
      order.awaitServed(served.toArray(String[]::new));
      order.awaitNothingLeft();
    }
    Map<String, Long> sent = sent();
    // The holder's two, and the waiter's: one that joins, one when it is notified, the release.
    assertTrue(sent.get("evalsha") <= 5L * cycles + 3, sent::toString);
    assertTrue(sent.get("subscribe") <= cycles / 4, sent::toString);
  }

  @Test
  void theHeartbeatsOfAClientGoInOneBatch() {
    Duration timeout = Duration.ofSeconds(3);
    Duration window = timeout.multipliedBy(2);
    RedisFairLock lock = order.here();
    lock.lock();
    order.queueAll(40, i -> order.lock(clients.there(), timeout));
    Map<String, Long> before = new HashMap<>();
    await().during(Duration.ofMillis(1_800)).until(() -> true); // the batches have merged
    order.server().resetStats();
    long start = System.nanoTime();
    await().during(window).atMost(window.multipliedBy(5)).until(before::isEmpty);
    long evalsha = sent().get("evalsha");
    double seconds = (System.nanoTime() - start) / 1e9;
    // Four heartbeats in a timeout for any number of waiters; the second one checks the head twice.
    double most = (4 + 2) * seconds / timeout.toSeconds() + 4;
    System.out.printf(
        "40 waiters with a waiter timeout of %d ms: %.1f scripts a second%n",
        timeout.toMillis(), evalsha / seconds);
    assertTrue(
        evalsha >= 2 * seconds / timeout.toSeconds() && evalsha <= most,
        () -> evalsha + " in " + seconds);
    lock.unlock();
  }

  private void awaitQuiet() {
    Map<String, Long> last = new HashMap<>();
    await()
        .pollInSameThread()
        .pollInterval(Duration.ofMillis(20))
        .during(Duration.ofMillis(200))
        .until(
            () -> {
              Map<String, Long> now = sent();
              boolean same = now.equals(last);
              last.clear();
              last.putAll(now);
              return same;
            });
  }

  // ---- inconsistency of list and set

  /** Its place is gone and its deadline is not: nobody would ever notify it. */
  @Test
  void aWaiterWhosePlaceIsGoneJoinsAgainWhileOthersKeepTheQueueBusy() {
    RedisFairLock lock = order.lock(clients.here(), REPAIR_TIMEOUT);
    lock.lock();
    order.queue("A", order.lock(clients.there(), REPAIR_TIMEOUT));
    order.queue("B", order.lock(clients.here(), REPAIR_TIMEOUT));
    order.queue("C", order.lock(clients.there(), REPAIR_TIMEOUT));
    String second = order.holders().get(1);
    order.server().command("LREM", order.list, "0", second);
    await().until(() -> order.holders().size() == 3);
    assertEquals(second, order.holders().get(2), "at the end");
    lock.unlock();
    order.awaitServed("A", "C", "B");
  }

  @Test
  void aWaiterWhoseDeadlineIsGoneJoinsAgain() {
    RedisFairLock lock = order.lock(clients.here(), REPAIR_TIMEOUT);
    lock.lock();
    order.queue("A", order.lock(clients.there(), REPAIR_TIMEOUT));
    order.queue("B", order.lock(clients.here(), REPAIR_TIMEOUT));
    List<String> before = order.holders();
    order.server().command("ZREM", order.deadlines, before.get(0));
    await().until(() -> order.holders().equals(List.of(before.get(1), before.get(0))));
    lock.unlock();
    order.awaitServed("B", "A");
  }

  @Test
  void allWaitersJoinAgainWhenTheQueueWasDeleted() {
    RedisFairLock lock = order.lock(clients.here(), REPAIR_TIMEOUT);
    for (String key : List.of(order.list, order.deadlines)) {
      lock.lock();
      int before = order.served().size();
      order.queueAll(
          5, i -> order.lock(i % 2 == 0 ? clients.there() : clients.here(), REPAIR_TIMEOUT));
      order.server().command("DEL", key);
      order.awaitLength(5);
      lock.unlock();
      await().until(() -> order.served().size() == before + 5);
      order.awaitNothingLeft();
    }
  }
}
