package io.mortise.it.fairlock;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Waiters that cannot leave: how long the others wait for them, and what becomes of them. */
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
@Timeout(60)
class FairDeadWaiterTest {
  private static final Duration PRESENCE = Duration.ofSeconds(1);
  private static final Duration LEASE = Duration.ofSeconds(30);

  /** How late somebody may be on a busy machine; far below the lease. */
  private static final Duration SLACK = Duration.ofSeconds(4);

  private static RedisServer server;
  private static LockClient client;
  private static LockClient other;
  private ServedOrder line;
  private RedisFairLock lock;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
    client = LockClient.create(server.uri());
    other = LockClient.create(server.uri());
  }

  @AfterAll
  static void stop() {
    client.close();
    other.close();
    server.close();
  }

  @BeforeEach
  void freshLine() {
    line = new ServedOrder(server);
    lock = line.lock(client, PRESENCE);
  }

  @AfterEach
  void closeLine() {
    line.close();
  }

  private Duration serve(String... everybody) {
    long start = System.nanoTime();
    lock.unlock();
    line.awaitServed(everybody);
    return Duration.ofNanos(System.nanoTime() - start);
  }

  @Test
  void aKilledHeadDelaysTheOthersByItsPresenceAtMost() throws Exception {
    try (JavaProcess child = FairProcess.start(line, PRESENCE, LEASE)) {
      lock.lock();
      line.ask("dead", child);
      line.ask("A", line.lock(other, PRESENCE));
      line.ask("B", line.lock(client, PRESENCE));
      child.kill();
      Duration delay = serve("A", "B");
      System.out.printf("a killed head of the queue cost %d ms%n", delay.toMillis());
      assertTrue(delay.compareTo(PRESENCE.plus(SLACK)) < 0, delay::toString);
      assertTrue(delay.toMillis() > 50, "it was the head: " + delay);
    }
    line.awaitNothingLeft();
  }

  @Test
  void severalDeadOnesCostOnePresenceTogether() throws Exception {
    try (JavaProcess child = FairProcess.start(line, PRESENCE, LEASE);
        JavaProcess second = FairProcess.start(line, PRESENCE, LEASE)) {
      lock.lock();
      for (int i = 0; i < 10; i++) {
        line.ask("dead" + i, i % 2 == 0 ? child : second);
      }
      line.ask("A", line.lock(other, PRESENCE));
      child.kill();
      second.kill();
      Duration delay = serve("A");
      System.out.printf("ten killed waiters cost %d ms%n", delay.toMillis());
      assertTrue(delay.compareTo(PRESENCE.plus(SLACK)) < 0, delay::toString);
    }
    line.awaitNothingLeft();
  }

  /** It died while the lock was held: by the release its place is over, and nobody waits for it. */
  @Test
  void whoDiedLongerAgoThanItsPresenceDelaysNobody() throws Exception {
    try (JavaProcess child = FairProcess.start(line, PRESENCE, LEASE)) {
      lock.lock();
      line.ask("dead", child);
      line.ask("A", line.lock(other, PRESENCE));
      child.kill();
      line.awaitLength(1);
      server.resetStats();
      Duration delay = serve("A");
      assertTrue(delay.compareTo(SLACK) < 0, delay::toString);
      assertTrue(server.commandStats().get("evalsha") <= 4, server.commandStats()::toString);
    }
  }

  /** Ours and Redisson's rule: the sleeper has lost its place, and joins again at the end. */
  @Test
  void aSuspendedWaiterJoinsAgainAtTheEndAndIsNotLost() throws Exception {
    try (JavaProcess child = FairProcess.start(line, PRESENCE, LEASE)) {
      lock.lock();
      line.ask("sleeper", child);
      line.ask("A", line.lock(other, PRESENCE));
      child.pause();
      line.awaitLength(1);
      child.resume();
      line.awaitLength(2);
      line.ask("B", line.lock(client, PRESENCE));
      Duration delay = serve("A", "sleeper", "B");
      assertTrue(delay.compareTo(SLACK) < 0, delay::toString);
    }
    line.awaitNothingLeft();
  }

  @Test
  void aSuspendedHeadOfAFreeLockIsPassedOverAndServedWhenItWakes() throws Exception {
    try (JavaProcess child = FairProcess.start(line, PRESENCE, LEASE)) {
      lock.lock();
      line.ask("sleeper", child);
      line.ask("A", line.lock(other, PRESENCE));
      child.pause();
      Duration delay = serve("A");
      assertTrue(delay.compareTo(PRESENCE.plus(SLACK)) < 0, delay::toString);
      child.resume();
      line.awaitServed("A", "sleeper");
      line.awaitNothingLeft();
    }
  }

  /** Twenty presences, in two clients and a process; nobody's place is touched. */
  @Test
  void whoWaitsForLongKeepsItsPlace() throws Exception {
    Duration presence = Duration.ofMillis(250);
    Duration many = presence.multipliedBy(16);
    try (JavaProcess child = FairProcess.start(line, presence, LEASE)) {
      lock.lock();
      line.ask("A", line.lock(other, presence));
      line.ask("B", child);
      line.ask("C", line.lock(client, presence));
      List<String> before = line.holders();
      await()
          .pollInSameThread()
          .pollInterval(Duration.ofMillis(50))
          .during(many)
          .atMost(many.plus(SLACK))
          .until(() -> line.holders().equals(before));
      serve("A", "B", "C");
    }
    line.awaitNothingLeft();
  }

  /** Signs of life that do not get through for less than the presence cost nothing. */
  @Test
  void aNetworkThatIsDownForLessThanThePresenceCostsNoPlace() throws Exception {
    Duration presence = Duration.ofSeconds(4);
    LockOptions options = LockOptions.builder().commandTimeout(Duration.ofMillis(500)).build();
    try (FaultProxy proxy = FaultProxy.to(server);
        LockClient cut = LockClient.create(proxy.uri(), options)) {
      lock.lock();
      line.ask("A", line.lock(cut, presence));
      line.ask("B", line.lock(other, presence));
      String first = line.holders().get(0);
      proxy.cut();
      await().until(() -> line.left(first) < presence.toMillis() / 2);
      proxy.restore();
      await().until(() -> line.left(first) > presence.toMillis() / 2);
      assertEquals(first, line.holders().get(0));
      serve("A", "B");
    }
    line.awaitNothingLeft();
  }

  /** Who tells Redis no time of its own cannot tell a wrong one. */
  @Test
  void noClockOfAClientGoesToRedis() throws Exception {
    List<String> requests = new CopyOnWriteArrayList<>();
    try (FaultProxy proxy = FaultProxy.to(server);
        LockClient seen = LockClient.create(proxy.uri())) {
      proxy.loseNextReply(
          FaultProxy.LossStyle.CLOSE,
          request -> {
            requests.add(new String(request, ISO_8859_1));
            return false;
          });
      lock.lock();
      RedisFairLock its = line.lock(seen, PRESENCE);
      line.ask("A", its);
      String place = line.holders().get(0);
      await().until(() -> line.left(place) > 0 && requests.size() > 4);
      serve("A");
      line.awaitNothingLeft();
    }
    assertTrue(requests.stream().anyMatch(request -> request.contains("EVAL")));
    long now = System.currentTimeMillis();
    for (String request : requests) {
      for (String word : request.split("\r\n", -1)) {
        if (word.matches("[0-9]{10,16}")) {
          double seconds = Double.parseDouble(word.substring(0, 10));
          assertTrue(Math.abs(seconds - now / 1e3) > 86_400 * 365, request);
        }
      }
    }
  }
}
