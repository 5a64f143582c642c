package io.mortise.connection.pubsub;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pubsub.Subscriptions.Subscription;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.FakeCluster;
import io.mortise.connection.testing.FakeTicker;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import io.mortise.connection.topology.Topology;
import io.mortise.connection.topology.TopologyFactory;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.Connection;

/** The nodes of a cluster on which channels are subscribed. Channels follow their slots. */
@Timeout(60)
class ClusterSubscriptionsTest {
  private static final long HEARTBEAT = TimeUnit.SECONDS.toNanos(30);
  private static final long ANSWER = TimeUnit.SECONDS.toNanos(20);

  private final FakeCluster fake = new FakeCluster(2);
  private final AtomicBoolean lacksMemory = new AtomicBoolean();
  private final AtomicBoolean lacksMemoryToWrite = new AtomicBoolean();

  /** Runs when the thread of the test reads the clock, once. */
  private final AtomicReference<Runnable> atRead = new AtomicReference<>();

  private final Thread thread = Thread.currentThread();
  private final AtomicInteger others = new AtomicInteger();

  /** The clock of the system, which throws an error when a test says so, once. */
  private final Ticker ticker =
      new Ticker() {
        @Override
        public long read() {
          if (lacksMemory.getAndSet(false)) {
            throw new OutOfMemoryError("on purpose");
          }
          Runnable action = Thread.currentThread() == thread ? atRead.getAndSet(null) : null;
          if (action != null) {
            action.run();
          }
          return System.nanoTime();
        }
      };

  private final WorkerPool workers = new WorkerPool("test");
  private final Topology servers =
      TopologyFactory.create(fake.uri(), TestSettings.DEFAULTS, workers);
  private final Scheduler scheduler =
      new Scheduler(System::nanoTime, () -> Long.MAX_VALUE, workers.threads("scheduler"));
  private final Subscriptions subscriptions = subscriptions(workers, HEARTBEAT, ANSWER);
  private final String first = "c:{" + fake.nameAt(0, 1) + "}";
  private final String second = "c:{" + fake.nameAt(1, 1) + "}";

  ClusterSubscriptionsTest() {
    servers.onChange(subscriptions::serverChanged);
    scheduler.start();
    fake.answer(0, RespServer::subscribed);
    fake.answer(1, RespServer::subscribed);
  }

  private Subscriptions subscriptions(WorkerPool threads, long heartbeatNanos, long answerNanos) {
    return subscriptions(servers, threads, heartbeatNanos, answerNanos);
  }

  private Subscriptions subscriptions(
      Topology at, WorkerPool threads, long heartbeatNanos, long answerNanos) {
    SubscriptionTimings timings = new SubscriptionTimings(0, heartbeatNanos, answerNanos);
    return new Subscriptions(at, threads, scheduler, ticker, timings, Math::random, () -> {});
  }

  @AfterEach
  void close() {
    subscriptions.close();
    scheduler.close();
    servers.close();
    workers.close();
    fake.close();
  }

  private static void until(Callable<Boolean> condition) {
    await().atMost(BackgroundCall.LIVENESS).pollInterval(Duration.ofMillis(5)).until(condition);
  }

  private long heard(int node, String verb, String channel) {
    return fake.node(node).heard().stream()
        .filter(command -> command.get(0).equals(verb) && command.contains(channel))
        .count();
  }

  @Test
  void eachIsHeardAtItsSlotsMaster() {
    servers.refresh();
    Subscription one = subscriptions.subscribe(first, true);
    Subscription two = subscriptions.subscribe(second, true);
    until(() -> one.confirmed() && two.confirmed());

    assertEquals(List.of("SSUBSCRIBE"), fake.said(0));
    assertEquals(List.of("SSUBSCRIBE"), fake.said(1));
  }

  @Test
  void whatIsRefusedBecauseItsSlotHasMovedIsHeardAtTheNewMaster() {
    servers.refresh();
    fake.answer(0, command -> fake.moved(first, 1));
    fake.tell(1, 1);
    Subscription one = subscriptions.subscribe(first, true);
    long seen = one.signal().generation();

    until(one::confirmed);

    assertEquals(1, heard(1, "SSUBSCRIBE", first));
    assertTrue(one.signal().generation() > seen, "who waits has tried again");
  }

  @Test
  void whatTheServerDropsIsHeardAtTheNewMaster() {
    servers.refresh();
    fake.answer(0, c -> RespServer.subscribed(c) + RespServer.push("sunsubscribe", c.get(1), 0));
    fake.tell(1, 1);
    Subscription one = subscriptions.subscribe(first, true);

    until(() -> heard(1, "SSUBSCRIBE", first) == 1 && one.confirmed());
    assertEquals(1, heard(0, "SSUBSCRIBE", first));
  }

  /** As when a slot moves whose lock has many waiters: the server drops each of their channels. */
  @Test
  void aWorkerLooksForAllChannelsThatTheServerDropsTogether() {
    int many = 100;
    servers.refresh();
    CountDownLatch answered = new CountDownLatch(1);
    AtomicInteger threads = new AtomicInteger();
    WorkerPool.NamedThreadFactory counting =
        (task, name) -> {
          threads.addAndGet(name.contains("worker") ? 1 : 0);
          return new Thread(task, name);
        };
    try (WorkerPool counted = new WorkerPool("counted", counting);
        Subscriptions dropped =
            subscriptions(refreshingAfter(answered), counted, HEARTBEAT, ANSWER)) {
      List<Subscription> all =
          IntStream.range(0, many).mapToObj(i -> dropped.subscribe(first + i, true)).toList();
      until(() -> all.stream().allMatch(Subscription::confirmed));
      List<Long> seen = all.stream().map(each -> each.signal().generation()).toList();
      String drops =
          IntStream.range(0, many)
              .mapToObj(i -> RespServer.push("sunsubscribe", first + i, 1))
              .collect(Collectors.joining());
      fake.answer(0, c -> (c.contains(first + many) ? drops : "") + RespServer.subscribed(c));

      dropped.subscribe(first + many, true);

      for (int i = 0; i < many; i++) {
        int each = i;
        until(() -> all.get(each).signal().generation() > seen.get(each));
      }
      assertTrue(threads.get() <= 2, threads + " workers");
      answered.countDown();
      until(() -> all.stream().allMatch(Subscription::confirmed));
    } finally {
      answered.countDown();
    }
  }

  /** Returns the cluster, which is silent until then when it is asked for its slots. */
  private Topology refreshingAfter(CountDownLatch latch) {
    return (Topology)
        Proxy.newProxyInstance(
            Topology.class.getClassLoader(),
            new Class<?>[] {Topology.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("refresh")) {
                latch.await();
              }
              return method.invoke(servers, arguments);
            });
  }

  @Test
  void aChangeOfTheMapTakesTheChannelAlong() {
    servers.refresh();
    Subscription one = subscriptions.subscribe(first, true);
    Subscription two = subscriptions.subscribe(second, true);
    until(() -> one.confirmed() && two.confirmed());
    long seen = one.signal().generation();

    fake.tell(1, 1);
    servers.refresh();

    assertTrue(one.signal().generation() > seen, "a message may have been missed in between");
    until(() -> one.confirmed() && two.confirmed());
    assertEquals(1, heard(1, "SSUBSCRIBE", first));
    assertEquals(1, heard(1, "SSUBSCRIBE", second), "that one has stayed where it was");
    until(() -> fake.node(0).connections() <= 1); // the commands' own
  }

  @Test
  void withoutShardsAllAreHeardOverOneConnection() {
    fake.tellOfShards(FakeCluster.NO_SHARDS);
    servers.refresh();
    Subscription one = subscriptions.subscribe(first, true);
    Subscription two = subscriptions.subscribe(second, true);
    until(() -> one.confirmed() && two.confirmed());

    List<Long> heard =
        Stream.of(0, 1)
            .map(node -> heard(node, "SUBSCRIBE", first) + heard(node, "SUBSCRIBE", second))
            .sorted()
            .toList();
    assertEquals(List.of(0L, 2L), heard);
  }

  @Test
  void anUpgradeOfTheLastMasterTakesTheChannelsToTheirSlots() {
    fake.tellOfShardsBy(0, FakeCluster.NO_SHARDS);
    servers.refresh();
    Subscription one = subscriptions.subscribe(first, true);
    Subscription two = subscriptions.subscribe(second, true);
    until(() -> one.confirmed() && two.confirmed());
    long seen = one.signal().generation();
    assertEquals("PUBLISH", new String(servers.publishCommand(), US_ASCII));

    fake.tell(1, 1); // a failover to a node of a later version
    servers.refresh();

    assertEquals("SPUBLISH", new String(servers.publishCommand(), US_ASCII));
    assertTrue(one.signal().generation() > seen, "a message may have been missed in between");
    until(() -> one.confirmed() && two.confirmed());
    assertEquals(1, heard(1, "SSUBSCRIBE", first));
    assertEquals(1, heard(1, "SSUBSCRIBE", second));
  }

  @Test
  void anUpgradeInPlaceTakesTheChannelsToTheirSlots() {
    fake.tellOfShardsBy(0, FakeCluster.NO_SHARDS);
    FakeTicker topologyTicker = new FakeTicker();
    try (Topology upgraded =
            TopologyFactory.create(fake.uri(), TestSettings.by(topologyTicker), workers);
        Subscriptions followers = subscriptions(upgraded, workers, HEARTBEAT, ANSWER)) {
      upgraded.onChange(followers::serverChanged);
      upgraded.refresh();
      Subscription one = followers.subscribe(first, true);
      until(one::confirmed);
      long seen = one.signal().generation();

      fake.tellOfShardsBy(0, FakeCluster.SHARDS);
      topologyTicker.advance(TimeUnit.SECONDS.toNanos(5));
      upgraded.refresh();

      assertTrue(one.signal().generation() > seen, "a message may have been missed in between");
      until(one::confirmed);
      assertEquals(1, heard(0, "SSUBSCRIBE", first));
    }
  }

  @Test
  void aMasterWithoutShardsTakesTheChannelsOutOfTheirSlots() {
    fake.tell(0, 0);
    fake.tellOfShardsBy(1, FakeCluster.NO_SHARDS);
    servers.refresh();
    Subscription one = subscriptions.subscribe(first, true);
    Subscription two = subscriptions.subscribe(second, true);
    until(() -> one.confirmed() && two.confirmed());

    fake.tell(0, 1);
    servers.refresh();

    until(() -> one.confirmed() && two.confirmed());
    assertEquals(1, heard(0, "SUBSCRIBE", first) + heard(1, "SUBSCRIBE", first));
    assertEquals(1, heard(0, "SUBSCRIBE", second) + heard(1, "SUBSCRIBE", second));
  }

  /**
   * A waiter leaves and others come, twice, before the server has answered: two requests to end the
   * subscription are between the first request and the last one.
   */
  @Test
  void onlyTheAnswerToTheLastRequestConfirmsAChannel() {
    servers.refresh();
    fake.answer(
        0,
        command -> command.contains(first) ? RespServer.SILENCE : RespServer.subscribed(command));
    Subscription other = subscriptions.subscribe("c:{" + fake.nameAt(0, 2) + "}", true);
    until(other::confirmed);
    for (int i = 1; i <= 2; i++) {
      long times = i;
      Subscription leaves = subscriptions.subscribe(first, true);
      until(() -> heard(0, "SSUBSCRIBE", first) == times);
      leaves.close();
      until(() -> heard(0, "SUNSUBSCRIBE", first) == times);
    }
    Subscription last = subscriptions.subscribe(first, true);
    until(() -> heard(0, "SSUBSCRIBE", first) == 3);

    for (String earlier : List.of("ssubscribe", "sunsubscribe", "ssubscribe")) {
      answerBefore(RespServer.push(earlier, first, 2));
      assertFalse(last.confirmed(), "what is published before the last request is not heard");
    }

    answerBefore(RespServer.push("sunsubscribe", first, 1));
    answerBefore(RespServer.push("ssubscribe", first, 2));
    assertTrue(last.confirmed());
  }

  /** Lets a node answer that first, and then confirm another channel; returns when it has. */
  private void answerBefore(String answer) {
    String next = "c:{" + fake.nameAt(0, 100 + others.incrementAndGet()) + "}";
    fake.answer(
        0, command -> (command.contains(next) ? answer : "") + RespServer.subscribed(command));
    until(subscriptions.subscribe(next, true)::confirmed);
  }

  @Test
  void withTheLastWaiterTheConnectionEnds() {
    servers.refresh();
    Subscription one = subscriptions.subscribe(first, true);
    until(one::confirmed);
    one.close();

    until(() -> subscriptions.channels() == 0 && scheduler.size() == 0);
    until(() -> fake.node(0).connections() <= 1);
    assertFalse(fake.said(0).contains("SUNSUBSCRIBE"), "the connection is closed instead");
  }

  @Test
  void aWaiterThatClosesAgainAfterAnErrorDoesNotTakeTheChannelFromTheNext() {
    servers.refresh();
    Subscription broken = subscriptions.subscribe(first, true);
    until(broken::confirmed);
    lacksMemory.set(true);
    assertThrows(OutOfMemoryError.class, broken::close);
    Subscription next = subscriptions.subscribe(first, true);

    broken.close();

    Subscription other = subscriptions.subscribe(second, true);
    until(other::confirmed);
    other.close();
    until(() -> !subscriptions.isHeard(second)); // this pass drops all that are idle
    assertTrue(subscriptions.isHeard(first));
    assertTrue(next.confirmed());
    next.close();
    until(() -> subscriptions.channels() == 0);
  }

  /** The endpoint of a channel, at which a write lacks memory when a test says so, once. */
  private final class Endpoint implements Topology.SubscriptionEndpoint {
    private final Topology.SubscriptionEndpoint real;

    Endpoint(Topology.SubscriptionEndpoint real) {
      this.real = real;
    }

    @Override
    public Connection connect(Deadline deadline) throws CommandException {
      return real.connect(deadline);
    }

    @Override
    public boolean isSharded() {
      if (lacksMemoryToWrite.getAndSet(false)) {
        throw new OutOfMemoryError("on purpose");
      }
      return real.isSharded();
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Endpoint endpoint && real.equals(endpoint.real);
    }

    @Override
    public int hashCode() {
      return real.hashCode();
    }
  }

  /** Returns the cluster with other endpoints. */
  private Topology withoutMemoryToWrite() {
    return (Topology)
        Proxy.newProxyInstance(
            Topology.class.getClassLoader(),
            new Class<?>[] {Topology.class},
            (proxy, method, arguments) ->
                method.getName().equals("endpointFor")
                    ? new Endpoint(servers.endpointFor((String) arguments[0]))
                    : method.invoke(servers, arguments));
  }

  /** The error at one of the nodes keeps the client from sending anything to the other one. */
  @Test
  void theNextHeartbeatDropsWhatAnErrorHasLeft() {
    servers.refresh();
    long often = TimeUnit.MILLISECONDS.toNanos(100);
    try (Subscriptions some = subscriptions(withoutMemoryToWrite(), workers, often, ANSWER)) {
      List<Subscription> kept =
          List.of(some.subscribe(first + "2", true), some.subscribe(second + "2", true));
      Subscription one = some.subscribe(first, true);
      Subscription two = some.subscribe(second, true);
      until(() -> one.confirmed() && two.confirmed());
      until(() -> kept.stream().allMatch(Subscription::confirmed));

      lacksMemoryToWrite.set(true);
      atRead.set(two::close); // under the lock: both are dropped together
      one.close();

      until(() -> heard(0, "SUNSUBSCRIBE", first) == 1 && heard(1, "SUNSUBSCRIBE", second) == 1);
      assertFalse(lacksMemoryToWrite.get());
      assertTrue(kept.stream().allMatch(Subscription::confirmed));
    }
  }

  @Test
  void aConnectionThatNeverAnswersIsMadeAnew() {
    AtomicInteger attempts = new AtomicInteger();
    fake.answer(
        0, c -> attempts.incrementAndGet() == 1 ? RespServer.SILENCE : RespServer.subscribed(c));
    servers.refresh();
    long often = TimeUnit.MILLISECONDS.toNanos(100);
    try (Subscriptions watched = subscriptions(workers, often, 2 * often)) {
      Subscription one = watched.subscribe(first, true);
      until(one::confirmed);
      one.close();
    }
  }

  @Test
  void withoutAThreadToHearItAChannelIsGivenUpAllTheSame() {
    servers.refresh();
    try (WorkerPool deaf = new WorkerPool("deaf", ClusterSubscriptionsTest::noSubscriber)) {
      Subscriptions unheard = subscriptions(deaf, HEARTBEAT, ANSWER);
      Subscription one = unheard.subscribe(first, true);
      assertFalse(one.confirmed());
      one.close();

      until(() -> unheard.channels() == 0 && scheduler.size() == 0);
    }
  }

  private static Thread noSubscriber(Runnable task, String name) {
    if (name.contains("subscriber")) {
      throw new OutOfMemoryError("unable to create native thread (on purpose)");
    }
    return new Thread(task, name);
  }
}
