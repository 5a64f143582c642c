package io.mortise.testkit;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.testkit.FaultProxy.Direction;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.exceptions.JedisConnectionException;

@Timeout(30)
class FaultProxyTest {
  private static final int SHORT_MILLIS =
      1_000; // more than a healthy answer takes on a busy machine
  private static final int LONG_MILLIS = 10_000;

  private static RedisServer server;
  private FaultProxy proxy;

  @BeforeAll
  static void startServer() {
    server = RedisServer.builder().config("requirepass", "x").start();
  }

  @AfterAll
  static void closeServer() {
    server.close();
  }

  @BeforeEach
  void startProxy() {
    proxy = FaultProxy.to(server);
    server.command("FLUSHALL");
  }

  @AfterEach
  void closeProxy() {
    proxy.close();
    assertEquals(List.of(), threadsOf(proxy));
  }

  private static List<String> threadsOf(FaultProxy proxy) {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("proxy " + proxy.port() + " "))
        .toList();
  }

  /** Closes also when the connection is broken and cannot be written to any more. */
  private static final class Client extends Jedis {
    Client(String uri, int timeoutMillis) {
      super(URI.create(uri), timeoutMillis);
    }

    @Override
    public void close() {
      try {
        super.close();
      } catch (JedisConnectionException e) {
        assertFalse(isConnected(), e::toString);
      }
    }
  }

  private Jedis connect(int timeoutMillis) {
    Jedis jedis = new Client(proxy.uri(), timeoutMillis);
    jedis.ping();
    return jedis;
  }

  @Test
  void passesEverythingOnAndCountsIt() {
    String large = "x".repeat(300_000);
    try (Jedis jedis = connect(LONG_MILLIS)) {
      jedis.set("k", large);
      assertEquals(large, jedis.get("k"));
      assertTrue(proxy.bytes(Direction.TO_SERVER) > large.length());
      assertTrue(proxy.bytes(Direction.TO_CLIENT) > large.length());
      assertEquals(1, proxy.connections());
    }
    await().until(() -> proxy.connections() == 0);
    assertEquals(1, proxy.connectionsAccepted());
  }

  @Test
  void delaysEachDirection() {
    try (Jedis jedis = connect(LONG_MILLIS)) {
      proxy.delay(Duration.ofMillis(100));
      assertTrue(roundTrip(jedis).toMillis() >= 200);
      proxy.delay(Direction.TO_CLIENT, Duration.ZERO);
      long oneWay = roundTrip(jedis).toMillis();
      assertTrue(oneWay >= 100, () -> oneWay + " ms");
    }
  }

  @Test
  void restoreReleasesWhatIsBeingDelayed() throws Exception {
    try (Jedis jedis = connect(LONG_MILLIS)) {
      proxy.delay(Duration.ofHours(1));
      CompletableFuture<String> pong = CompletableFuture.supplyAsync(jedis::ping);
      await().during(Duration.ofMillis(100)).until(() -> !pong.isDone());
      proxy.restore();
      assertEquals("PONG", pong.get(10, SECONDS));
    }
  }

  private static Duration roundTrip(Jedis jedis) {
    long start = System.nanoTime();
    jedis.ping();
    return Duration.ofNanos(System.nanoTime() - start);
  }

  @Test
  void aCutEndsConnectionsAndRefusesNewOnesUntilRestored() {
    try (Jedis jedis = connect(LONG_MILLIS)) {
      proxy.cut();
      assertThrows(JedisConnectionException.class, jedis::ping);
      assertThrows(JedisConnectionException.class, () -> connect(LONG_MILLIS));
      await().until(() -> proxy.connections() == 0);
    }
    proxy.restore();
    connect(LONG_MILLIS).close();
  }

  @Test
  void closedConnectionsCanBeMadeAgain() {
    try (Jedis jedis = connect(LONG_MILLIS)) {
      proxy.closeConnections();
      assertThrows(JedisConnectionException.class, jedis::ping);
    }
    connect(LONG_MILLIS).close();
  }

  @Test
  void aSwallowedRequestNeverReachesTheServer() {
    try (Jedis jedis = connect(SHORT_MILLIS)) {
      proxy.blackhole(Direction.TO_SERVER);
      assertThrows(JedisConnectionException.class, () -> jedis.set("k", "v"));
      assertNull(server.command("GET", "k"));
    }
  }

  @Test
  void aSwallowedReplyBelongsToACommandThatWasDone() {
    Jedis jedis = connect(SHORT_MILLIS);
    proxy.blackhole(Direction.TO_CLIENT);
    assertThrows(JedisConnectionException.class, () -> jedis.set("k", "v"));
    assertEquals("v", server.command("GET", "k"));
    proxy.restore();
    connect(LONG_MILLIS).close();
    jedis.close();
  }

  @Test
  void connectionsThatLostBytesAreClosedByRestoreAndOthersAreNot() {
    BlockingQueue<String> messages = new LinkedBlockingQueue<>();
    CompletableFuture<Void> subscriber = subscribe(messages);
    try (Jedis quiet = connect(LONG_MILLIS)) {
      proxy.blackhole(Direction.TO_CLIENT);
      long passed = proxy.bytes(Direction.TO_CLIENT);
      assertEquals(1L, server.command("PUBLISH", "c", "lost"));
      await().during(Duration.ofMillis(100)).until(() -> !subscriber.isDone());
      assertEquals(passed, proxy.bytes(Direction.TO_CLIENT));
      proxy.restore();
      await().until(subscriber::isCompletedExceptionally);
      assertEquals("PONG", quiet.ping());
      assertTrue(messages.isEmpty());
    }
  }

  @Test
  void publishedMessagesPassUntilTheConnectionIsCut() throws Exception {
    BlockingQueue<String> messages = new LinkedBlockingQueue<>();
    CompletableFuture<Void> subscriber = subscribe(messages);
    for (int i = 0; i < 100; i++) {
      server.command("PUBLISH", "c", "m" + i);
      assertEquals("m" + i, messages.poll(10, SECONDS));
    }
    proxy.cut();
    await().until(subscriber::isCompletedExceptionally);
  }

  private CompletableFuture<Void> subscribe(BlockingQueue<String> messages) {
    CompletableFuture<Void> subscribed = new CompletableFuture<>();
    JedisPubSub listener =
        new JedisPubSub() {
          @Override
          public void onSubscribe(String channel, int count) {
            subscribed.complete(null);
          }

          @Override
          public void onMessage(String channel, String message) {
            messages.add(message);
          }
        };
    CompletableFuture<Void> end =
        CompletableFuture.runAsync(
            () -> {
              try (Jedis jedis = connect(LONG_MILLIS)) {
                jedis.subscribe(listener, "c");
              }
            });
    await().until(subscribed::isDone);
    return end;
  }

  @ParameterizedTest
  @EnumSource
  void exactlyOneReplyIsLostAndItsCommandIsDone(LossStyle style) {
    try (Jedis other = connect(LONG_MILLIS);
        Jedis jedis = connect(SHORT_MILLIS)) {
      proxy.loseNextReply(style, FaultProxy.containing("INCR"));
      assertEquals("OK", other.set("other", "v"), "no match");

      var lost = assertThrows(JedisConnectionException.class, () -> jedis.incr("k"));

      boolean timedOut = lost.getCause() instanceof java.net.SocketTimeoutException;
      assertEquals(style == LossStyle.SILENT, timedOut, lost::toString);
      assertEquals("1", server.command("GET", "k"));
      assertEquals(1, proxy.repliesLost());
      assertEquals(2, other.incr("k"), "the next reply comes");
    }
  }

  @Test
  void aSilencedConnectionAnswersNothingMore() {
    try (Jedis jedis = connect(SHORT_MILLIS)) {
      proxy.loseNextReply(LossStyle.SILENT);
      assertThrows(JedisConnectionException.class, () -> jedis.incr("k"));
      assertThrows(JedisConnectionException.class, jedis::ping);
      assertEquals(1, proxy.repliesLost());
    }
  }

  @Test
  void forgottenConnectionsAreSilentAndNewOnesWork() {
    try (Client before = new Client(proxy.uri(), SHORT_MILLIS)) {
      before.ping();
      proxy.forgetConnections();

      assertThrows(JedisConnectionException.class, before::ping);
      try (Client after = new Client(proxy.uri(), LONG_MILLIS)) {
        assertEquals("PONG", after.ping());
      }
    }
  }

  @Test
  void aForgottenConnectionThatLostNothingWorksAfterRestore() {
    try (Jedis idle = connect(LONG_MILLIS)) {
      proxy.forgetConnections();
      proxy.restore();
      assertEquals("PONG", idle.ping());
    }
  }

  @ParameterizedTest
  @EnumSource
  void aReplyThatWasStillToBeLostComesAfterRestore(LossStyle style) throws Exception {
    try (Jedis jedis = connect(LONG_MILLIS)) {
      proxy.loseNextReply(style, FaultProxy.containing("BLPOP"));
      CompletableFuture<List<String>> popped =
          CompletableFuture.supplyAsync(() -> jedis.blpop(LONG_MILLIS / 1_000, "k"));
      await()
          .until(() -> server.command("INFO", "clients").toString().contains("blocked_clients:1"));
      proxy.restore();
      server.command("RPUSH", "k", "v");
      assertEquals(List.of("k", "v"), popped.get(10, SECONDS));
      assertEquals("PONG", jedis.ping());
      assertEquals(0, proxy.repliesLost());
    }
  }

  @Test
  void severalRepliesAreLostOnConnectionsOfTheirOwn() {
    proxy.loseReplies(2, LossStyle.CLOSE, FaultProxy.containing("INCR"));
    for (int i = 0; i < 2; i++) {
      try (Jedis jedis = connect(LONG_MILLIS)) {
        assertThrows(JedisConnectionException.class, () -> jedis.incr("k"));
      }
    }
    try (Jedis jedis = connect(LONG_MILLIS)) {
      assertEquals(3, jedis.incr("k"));
    }
    assertEquals(2, proxy.repliesLost());
  }

  @Test
  void newConnectionsAreHeldAndServedLater() throws Exception {
    try (Jedis before = connect(LONG_MILLIS)) {
      proxy.holdNewConnections();
      assertEquals("PONG", before.ping());
      assertThrows(JedisConnectionException.class, () -> connect(SHORT_MILLIS));
      CompletableFuture<Void> waiting =
          CompletableFuture.runAsync(() -> connect(LONG_MILLIS).close());
      await().during(Duration.ofMillis(100)).until(() -> !waiting.isDone());
      proxy.restore();
      waiting.get(10, SECONDS);
    }
  }

  @Test
  void aServerThatIsDownRefusesAndOneThatComesBackServes() {
    try (RedisServer own = RedisServer.start();
        FaultProxy front = FaultProxy.to(own.host(), own.port())) {
      own.kill();
      assertThrows(JedisConnectionException.class, () -> ping(front));
      own.restart();
      ping(front);
    }
  }

  private static void ping(FaultProxy front) {
    try (Jedis jedis = new Client(front.uri(), LONG_MILLIS)) {
      assertEquals("PONG", jedis.ping());
    }
  }

  @Test
  void aClosedProxyRefusesConnections() {
    Jedis jedis = connect(LONG_MILLIS);
    proxy.delay(Duration.ofHours(1));
    proxy.close();
    assertThrows(JedisConnectionException.class, jedis::ping);
    assertThrows(JedisConnectionException.class, () -> connect(LONG_MILLIS));
    assertFalse(jedis.isConnected() && !jedis.isBroken());
  }

  @Test
  void noThreadIsLeftOfConnectionsThatWereClosedBefore() {
    for (int i = 0; i < 50; i++) {
      FaultProxy own = FaultProxy.to(server);
      Jedis jedis = new Client(own.uri(), LONG_MILLIS);
      jedis.ping();
      own.closeConnections();
      own.close();
      assertEquals(List.of(), threadsOf(own));
      jedis.close();
    }
  }

  @Test
  void whatIsWrongIsRefusedAtTheDoor() {
    assertThrows(IllegalArgumentException.class, () -> FaultProxy.to("127.0.0.1", 0));
    assertThrows(IllegalArgumentException.class, () -> proxy.delay(Duration.ofMillis(-1)));
    assertThrows(
        IllegalArgumentException.class,
        () -> proxy.loseReplies(0, LossStyle.CLOSE, FaultProxy.containing("x")));
  }
}
