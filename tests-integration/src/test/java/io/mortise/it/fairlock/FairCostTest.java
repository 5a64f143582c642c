package io.mortise.it.fairlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What waiting costs Redis, counted; and that a diverged queue heals. */
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
@Timeout(60)
class FairCostTest {
  /** What the client itself sends; all else is inside the scripts, or the test's. */
  private static final Set<String> SENT = Set.of("evalsha", "subscribe", "unsubscribe", "publish");

  private static RedisServer server;
  private LockClient client;
  private LockClient other;
  private ServedOrder line;
  private RedisFairLock lock;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  /** With clients of its own: the channels of another test would end in the middle of this one. */
  @BeforeEach
  void freshLine() {
    client = LockClient.create(server.uri());
    other = LockClient.create(server.uri());
    line = new ServedOrder(server);
  }

  @AfterEach
  void closeLine() {
    line.close();
    client.close();
    other.close();
  }

  private static Map<String, Long> sent() {
    Map<String, Long> sent = new HashMap<>(server.commandStats());
    sent.keySet().retainAll(SENT);
    return sent;
  }

  /**
   * No matter how many wait: the release, the attempt of the head, and one message. The last of
   * them leaves an empty queue, and calls those who wait for a plain lock.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 10, 60})
  void aHandOverCostsTwoScriptsAndOneWakeUp(int waiters) {
    Duration presence = Duration.ofHours(1);
    lock = line.lock(client, presence);
    lock.lock();
    String[] everybody = new String[waiters];
    for (int i = 0; i < waiters; i++) {
      everybody[i] = "w" + i;
      line.ask(everybody[i], line.lock(i % 2 == 0 ? other : client, presence));
    }
    awaitQuiet();
    server.resetStats();
    lock.unlock();
    line.awaitServed(everybody);
    awaitQuiet();
    Map<String, Long> sent = sent();
    assertEquals(waiters + 1L, sent.get("publish"), sent::toString);
    // The second of two asks once more when the head before it is gone, if that takes long.
    assertEquals(2L * waiters + 1, sent.get("evalsha"), sent::toString);
    line.awaitNothingLeft();
  }

  @Test
  void whoWaitsAsksTwoOrThreeTimesAndIsQuietThen() {
    Duration presence = Duration.ofHours(1);
    lock = line.lock(client, presence);
    lock.lock();
    awaitQuiet();
    server.resetStats();
    for (int i = 0; i < 20; i++) {
      line.ask("w" + i, line.lock(other, presence));
    }
    awaitQuiet();
    // One attempt that joins, one when the channel is confirmed; that may come in between.
    assertTrue(sent().get("evalsha") <= 3 * 20, sent()::toString);
    // Channels for more of them were subscribed ahead, and are left when nobody has come.
    await().until(() -> other.status().channels() == 20);
    server.resetStats();
    Duration quiet = Duration.ofSeconds(1);
    await().during(quiet).atMost(quiet.multipliedBy(5)).until(() -> sent().isEmpty());
    lock.unlock();
  }

  /** The channels of eight that are to come are subscribed with one command, and ahead. */
  @Test
  void whoWaitsAgainAndAgainAsksOnceBeforeItParksAndSeldomSubscribes() {
    RedisFairLock theirs = line.lock(other, Duration.ofHours(1));
    lock = line.lock(client, Duration.ofHours(1));
    int cycles = 24;
    List<String> served = new ArrayList<>();
    for (int i = -2; i < cycles; i++) { // the first two are as if nobody else was ever to come
      if (i == 0) {
        awaitQuiet();
        server.resetStats();
      }
      lock.lock();
      served.add("w" + i);
      line.ask("w" + i, theirs);
      lock.unlock();
      line.awaitServed(served.toArray(String[]::new));
      line.awaitNothingLeft();
    }
    Map<String, Long> sent = sent();
    // The holder's two, and of who waits: one that joins, one when its turn has come, the release.
    assertTrue(sent.get("evalsha") <= 5L * cycles + 3, sent::toString);
    assertTrue(sent.get("subscribe") <= cycles / 4, sent::toString);
  }

  @Test
  void theSignsOfLifeOfAClientGoInOneBatch() {
    Duration presence = Duration.ofSeconds(1);
    Duration window = Duration.ofSeconds(2);
    lock = line.lock(client, presence);
    lock.lock();
    for (int i = 0; i < 40; i++) {
      line.ask("w" + i, line.lock(other, presence));
    }
    Map<String, Long> before = new HashMap<>();
    await().during(Duration.ofMillis(600)).until(() -> true); // the batches have come together
    server.resetStats();
    long start = System.nanoTime();
    await().during(window).atMost(window.multipliedBy(5)).until(before::isEmpty);
    long evalsha = sent().get("evalsha");
    double seconds = (System.nanoTime() - start) / 1e9;
    // Four signs in a presence, however many wait; the second in line looks after the head twice.
    double most = (4 + 2) * seconds / presence.toSeconds() + 4;
    System.out.printf(
        "40 waiters with a presence of %d ms: %.1f scripts a second%n",
        presence.toMillis(), evalsha / seconds);
    assertTrue(evalsha >= 2 * seconds && evalsha <= most, () -> evalsha + " in " + seconds);
    lock.unlock();
  }

  private static void awaitQuiet() {
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

  // ---- divergence of list and set

  /** Its place is gone and its deadline is not: it would be waited for by nobody, for ever. */
  @Test
  void aWaiterWhosePlaceIsGoneJoinsAgainWhileOthersKeepTheQueueBusy() {
    Duration presence = Duration.ofMillis(1200);
    lock = line.lock(client, presence);
    lock.lock();
    line.ask("A", line.lock(other, presence));
    line.ask("B", line.lock(client, presence));
    line.ask("C", line.lock(other, presence));
    String second = line.holders().get(1);
    server.command("LREM", line.list, "0", second);
    await().until(() -> line.holders().size() == 3);
    assertEquals(second, line.holders().get(2), "at the end");
    lock.unlock();
    line.awaitServed("A", "C", "B");
    line.awaitNothingLeft();
  }

  @Test
  void aWaiterWhoseDeadlineIsGoneJoinsAgain() {
    Duration presence = Duration.ofMillis(1200);
    lock = line.lock(client, presence);
    lock.lock();
    line.ask("A", line.lock(other, presence));
    line.ask("B", line.lock(client, presence));
    List<String> before = line.holders();
    server.command("ZREM", line.deadlines, before.get(0));
    await().until(() -> line.holders().equals(List.of(before.get(1), before.get(0))));
    lock.unlock();
    line.awaitServed("B", "A");
    line.awaitNothingLeft();
  }

  @Test
  void everybodyJoinsAgainWhenTheQueueWasDeleted() {
    Duration presence = Duration.ofMillis(1200);
    lock = line.lock(client, presence);
    for (String key : List.of(line.list, line.deadlines)) {
      lock.lock();
      int before = line.served().size();
      for (int i = 0; i < 5; i++) {
        line.ask("w" + i, line.lock(i % 2 == 0 ? other : client, presence));
      }
      server.command("DEL", key);
      line.awaitLength(5);
      lock.unlock();
      await().until(() -> line.served().size() == before + 5);
      line.awaitNothingLeft();
    }
  }
}
