package io.mortise.it.fairlock;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.TwoClients;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.JavaProcess;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Waiters that cannot leave: how long they delay the others, and how they continue. */
@Timeout(60)
class FairDeadWaiterTest {
  private static final Duration WAITER_TIMEOUT = Duration.ofSeconds(3);

  /** How late a waiter may be on a busy machine; far below the lease. */
  private static final Duration SLACK = Duration.ofSeconds(4);

  @RegisterExtension static final TwoClients clients = new TwoClients();

  @RegisterExtension final ServedOrder order = new ServedOrder(clients, WAITER_TIMEOUT);

  private final RedisFairLock lock = order.here();

  private Duration serve(String... all) {
    long start = System.nanoTime();
    lock.unlock();
    order.awaitServed(all);
    return Duration.ofNanos(System.nanoTime() - start);
  }

  @Test
  void aKilledHeadDelaysTheOthersByAtMostItsWaiterTimeout() throws Exception {
    try (JavaProcess child = FairProcess.start(order)) {
      lock.lock();
      order.queue("dead", child);
      order.queue("A", order.there());
      order.queue("B", order.here());
      child.kill();
      Duration delay = serve("A", "B");
      System.out.printf("a killed head of the queue cost %d ms%n", delay.toMillis());
      assertTrue(delay.compareTo(WAITER_TIMEOUT.plus(SLACK)) < 0, delay::toString);
      assertTrue(delay.toMillis() > 50, "it was the head: " + delay);
    }
  }

  @Test
  void severalDeadWaitersTogetherCostOneWaiterTimeout() throws Exception {
    try (JavaProcess child = FairProcess.start(order);
        JavaProcess second = FairProcess.start(order)) {
      lock.lock();
      for (int i = 0; i < 10; i++) {
        order.queue("dead" + i, i % 2 == 0 ? child : second);
      }
      order.queue("A", order.there());
      child.kill();
      second.kill();
      Duration delay = serve("A");
      System.out.printf("ten killed waiters cost %d ms%n", delay.toMillis());
      assertTrue(delay.compareTo(WAITER_TIMEOUT.plus(SLACK)) < 0, delay::toString);
    }
  }

  /** It died while the lock was held: at the release its deadline is over. */
  @Test
  void aWaiterThatDiedBeforeItsTimeoutDelaysNobody() throws Exception {
    try (JavaProcess child = FairProcess.start(order)) {
      lock.lock();
      order.queue("dead", child);
      order.queue("A", order.there());
      child.kill();
      order.awaitLength(1);
      order.server().resetStats();
      Duration delay = serve("A");
      assertTrue(delay.compareTo(SLACK) < 0, delay::toString);
      assertTrue(
          order.server().commandStats().get("evalsha") <= 4,
          order.server().commandStats()::toString);
    }
  }

  /** The rule of ours and of Redisson's: a sleeper loses its place, and joins again at the end. */
  @Test
  void aSuspendedWaiterJoinsAgainAtTheEnd() throws Exception {
    try (JavaProcess child = FairProcess.start(order)) {
      lock.lock();
      order.queue("sleeper", child);
      order.queue("A", order.there());
      child.pause();
      order.awaitLength(1);
      child.resume();
      order.awaitLength(2);
      order.queue("B", order.here());
      Duration delay = serve("A", "sleeper", "B");
      assertTrue(delay.compareTo(SLACK) < 0, delay::toString);
    }
  }

  @Test
  void aSuspendedHeadOfAFreeLockIsSkippedAndServedWhenItResumes() throws Exception {
    try (JavaProcess child = FairProcess.start(order)) {
      lock.lock();
      order.queue("sleeper", child);
      order.queue("A", order.there());
      child.pause();
      Duration delay = serve("A");
      assertTrue(delay.compareTo(WAITER_TIMEOUT.plus(SLACK)) < 0, delay::toString);
      child.resume();
      order.awaitServed("A", "sleeper");
      order.awaitNothingLeft();
    }
  }

  /** Eight waiter timeouts, in two clients and a process; no place changes. */
  @Test
  void aLongWaitKeepsItsPlace() throws Exception {
    Duration timeout = Duration.ofSeconds(2);
    Duration many = timeout.multipliedBy(8);
    try (JavaProcess child = FairProcess.start(order, timeout)) {
      lock.lock();
      order.queue("A", order.lock(clients.there(), timeout));
      order.queue("B", child);
      order.queue("C", order.lock(clients.here(), timeout));
      List<String> before = order.holders();
      await()
          .pollInSameThread()
          .pollInterval(Duration.ofMillis(50))
          .during(many)
          .atMost(many.plus(SLACK))
          .until(() -> order.holders().equals(before));
      serve("A", "B", "C");
    }
  }

  /** Heartbeats that fail for less than the waiter timeout cost no place. */
  @Test
  void aNetworkThatIsDownForLessThanTheWaiterTimeoutCostsNoPlace() throws Exception {
    Duration timeout = Duration.ofSeconds(4);
    LockOptions options = LockOptions.builder().commandTimeout(Duration.ofMillis(500)).build();
    try (FaultProxy proxy = FaultProxy.to(clients.server());
        LockClient cut = LockClient.create(proxy.uri(), options)) {
      lock.lock();
      order.queue("A", order.lock(cut, timeout));
      order.queue("B", order.lock(clients.there(), timeout));
      String first = order.holders().get(0);
      proxy.cut();
      await().until(() -> order.millisLeft(first) < timeout.toMillis() / 2);
      proxy.restore();
      await().until(() -> order.millisLeft(first) > timeout.toMillis() / 2);
      assertEquals(first, order.holders().get(0));
      serve("A", "B");
    }
  }

  /** A wrong clock of a client can do no harm. */
  @Test
  void aClientSendsNoTimeOfItsOwnClock() throws Exception {
    List<String> requests = new CopyOnWriteArrayList<>();
    try (FaultProxy proxy = FaultProxy.to(clients.server());
        LockClient seen = LockClient.create(proxy.uri())) {
      proxy.loseNextReply(
          FaultProxy.LossStyle.CLOSE,
          request -> {
            requests.add(new String(request, ISO_8859_1));
            return false;
          });
      lock.lock();
      RedisFairLock its = order.lock(seen);
      order.queue("A", its);
      String place = order.holders().get(0);
      await().until(() -> order.millisLeft(place) > 0 && requests.size() > 4);
      serve("A");
      order.awaitNothingLeft();
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
