package io.mortise.connection.topology;

import static io.mortise.connection.testing.RespServer.error;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.pool.LazyConnectionPool;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.FakeCluster;
import io.mortise.connection.testing.FakeTicker;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestCalls;
import io.mortise.connection.testing.TestSettings;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;

/** The nodes that are asked for the map, its contents, and the connections that it ends. */
@Timeout(60)
class SlotMapCacheTest {
  private static final long LONG_NANOS = 20_000_000_000L;

  private final FakeCluster fake = new FakeCluster(2);
  private final WorkerPool workers = new WorkerPool("test");
  private final ScriptCall inspect = TestCalls.inspect(fake.nameAt(0, 1));

  @AfterEach
  void close() {
    workers.close();
    fake.close();
  }

  private Topology servers(String uri) {
    return TopologyFactory.create(uri, TestSettings.DEFAULTS, workers);
  }

  private static ClusterNodes nodes(HostAndPort... seeds) {
    return new ClusterNodes(
        Set.of(seeds),
        at ->
            new LazyConnectionPool(
                at, DefaultJedisClientConfig.builder().build(), TestSettings.DEFAULTS));
  }

  private Object run(Topology servers) throws CommandException {
    return new ScriptExecutor(servers, workers, FakeCluster.within(LONG_NANOS))
        .run(inspect)
        .value();
  }

  @Test
  void aSeedThatIsAwayIsPassedOver() throws Exception {
    String away;
    try (RespServer server = new RespServer(command -> RespServer.HANG_UP)) {
      away = server.address();
    }
    for (int i = 0; i < 10; i++) { // the order is random
      try (Topology servers = servers(fake.uri(0) + "," + away)) {
        assertEquals(0L, run(servers));
      }
    }
  }

  @Test
  void aSeedThatIsSilentCostsItsShareOfTheTimeAtMost() throws Exception {
    try (RespServer silent = new RespServer(command -> RespServer.SILENCE)) {
      while (silent.heard().isEmpty()) { // the order is random
        try (Topology servers = servers(fake.uri(0) + "," + silent.address())) {
          assertEquals(
              0L,
              new ScriptExecutor(servers, workers, FakeCluster.within(4_000_000_000L))
                  .run(inspect)
                  .value());
        }
      }
    }
  }

  @Test
  void mastersThatAreSilentCostNoMoreThanTheTimeThereIs() {
    try (FakeCluster large = new FakeCluster(30);
        Topology servers = servers(large.uri())) {
      large.tellOfShards(RespServer.SILENCE);
      ScriptExecutor commands =
          new ScriptExecutor(servers, workers, FakeCluster.within(500_000_000L));
      long start = System.nanoTime();

      assertThrows(CommandException.class, () -> commands.run(inspect));

      long millis = (System.nanoTime() - start) / 1_000_000;
      assertTrue(millis < 4_000, () -> "half a second took " + millis + " ms");
    }
  }

  @Test
  void seedsOfNoClusterAreToldAsWhatTheyAre() {
    try (RespServer alone =
            new RespServer(c -> error("ERR This instance has cluster support disabled"));
        Topology servers = servers("redis-cluster://" + alone.address())) {
      CommandException fault = assertThrows(CommandException.class, () -> run(servers));
      assertEquals(Kind.MISCONFIGURED, fault.kind());
      assertTrue(fault.getMessage().contains("the server is no node"), fault.getMessage());
      assertTrue(fault.getMessage().contains("cluster support disabled"), fault.getMessage());
    }
  }

  @Test
  void serversWithShardsPublishInThem() throws Exception {
    try (Topology servers = servers(fake.uri())) {
      run(servers);
      assertTrue(servers.isSharded());
      assertEquals("SPUBLISH", new String(servers.publishCommand(), UTF_8));
      String channel = "c:{" + fake.nameAt(1, 1) + "}";
      assertEquals(fake.node(1).address(), String.valueOf(servers.endpointFor(channel)));
    }
  }

  @Test
  void serversWithoutShardsPublishToAllAndAreAskedOnce() throws Exception {
    fake.tellOfShards(FakeCluster.NO_SHARDS);
    try (Topology servers = servers(fake.uri())) {
      run(servers);
      assertFalse(servers.isSharded());
      assertEquals("PUBLISH", new String(servers.publishCommand(), UTF_8));
      servers.refresh();
      assertEquals(2, fake.timesAsked());
      assertEquals(2, fake.heard("PUBSUB"));
    }
  }

  @Test
  void aMasterThatReplacesTheLastOneWithoutShardsIsAsked() throws Exception {
    fake.tellOfShardsBy(0, FakeCluster.NO_SHARDS);
    try (Topology servers = servers(fake.uri())) {
      AtomicInteger changes = new AtomicInteger();
      servers.onChange(changes::incrementAndGet);
      run(servers);
      assertFalse(servers.isSharded());

      fake.tell(1, 1);
      servers.refresh();
      assertTrue(servers.isSharded());
      assertEquals(2, changes.get(), "the slots, and the channels");

      fake.tell(0, 1);
      servers.refresh();
      assertFalse(servers.isSharded(), "it is asked again, because it was no master");
      assertEquals(3, fake.heard("PUBSUB"), "one that knows shards is asked once");
    }
  }

  @Test
  void aMasterThatHasRestartedWithShardsIsAskedAgain() {
    fake.tellOfShards(FakeCluster.NO_SHARDS);
    FakeTicker ticker = new FakeTicker();
    AtomicInteger changes = new AtomicInteger();
    try (ClusterNodes nodes = nodes(HostAndPort.from(fake.node(0).address()))) {
      SlotMapCache cache = new SlotMapCache(nodes, workers, ticker, TestSettings.DEFAULTS.random());
      cache.onChange(changes::incrementAndGet);
      cache.refresh();
      fake.tellOfShards(FakeCluster.SHARDS);
      ticker.advance(ChannelSharding.REPEAT_NANOS - 1);
      cache.refresh();
      assertFalse(cache.isSharded());
      assertEquals(2, fake.heard("PUBSUB"));

      ticker.advance(1);
      cache.refresh();

      assertTrue(cache.isSharded());
      assertEquals(1, changes.get());
      ticker.advance(ChannelSharding.REPEAT_NANOS);
      cache.refresh();
      assertEquals(4, fake.heard("PUBSUB"), "each knows shards, and is not asked any more");
    }
  }

  @Test
  void aMasterThatDoesNotAnswerIsAskedAgain() {
    fake.tellOfShardsBy(1, RespServer.HANG_UP);
    FakeTicker ticker = new FakeTicker();
    try (ClusterNodes nodes = nodes(HostAndPort.from(fake.node(0).address()))) {
      SlotMapCache cache = new SlotMapCache(nodes, workers, ticker, TestSettings.DEFAULTS.random());
      cache.refresh();
      assertTrue(cache.isSharded(), "all that answer know it");

      fake.tellOfShardsBy(1, FakeCluster.NO_SHARDS);
      ticker.advance(ChannelSharding.REPEAT_NANOS);
      cache.refresh();
      assertFalse(cache.isSharded());

      fake.tellOfShardsBy(1, RespServer.HANG_UP);
      ticker.advance(ChannelSharding.REPEAT_NANOS);
      cache.refresh();
      assertFalse(cache.isSharded(), "it stays, while one is unknown");

      fake.tellOfShardsBy(1, FakeCluster.SHARDS);
      ticker.advance(ChannelSharding.REPEAT_NANOS);
      cache.refresh();
      assertTrue(cache.isSharded());
    }
  }

  @Test
  void whoMayNotAskForShardsIsTold() {
    fake.tellOfShards(error("NOPERM this user has no permissions to run 'pubsub|shardnumsub'"));
    try (Topology servers = servers(fake.uri())) {
      CommandException fault = assertThrows(CommandException.class, () -> run(servers));
      assertEquals(Kind.ACCESS_DENIED, fault.kind());
      assertTrue(fault.getMessage().contains("shardnumsub"), fault.getMessage());
    }
  }

  /** As when the user has not been added on a new node: each node has its own list of users. */
  @Test
  void aMasterThatRefusesTheQuestionKeepsNobodyFromTheOthers() throws Exception {
    fake.tellOfShardsBy(0, error("NOPERM this user has no permissions to run 'pubsub'"));
    try (Topology servers = servers(fake.uri())) {
      run(servers);

      assertTrue(servers.isSharded());
    }
  }

  @Test
  void aNodeThatRefusesTheQuestionEndsNoWaitForTheOthers() {
    try (RespServer refusing = new RespServer(command -> error("NOPERM no permissions"));
        RespServer starting = new RespServer(command -> error("LOADING the dataset"));
        Topology servers =
            servers("redis-cluster://" + refusing.address() + "," + starting.address())) {
      for (int i = 0; i < 20; i++) { // in random order
        CommandException fault = assertThrows(CommandException.class, () -> run(servers));
        assertEquals(Kind.NOT_READY, fault.kind());
      }
    }
  }

  /** As that of a thread that has waited until its deadline for another one that asks. */
  @Test
  void aFetchForWhichThereIsNoTimeHasTimedOut() {
    ClusterNodes nodes = nodes(HostAndPort.from(fake.node(0).address()));
    FakeTicker ticker = new FakeTicker();
    SlotMapCache cache = new SlotMapCache(nodes, workers, ticker, TestSettings.DEFAULTS.random());

    CommandException fault =
        assertThrows(
            CommandException.class, () -> cache.fetchUnlessNewer(null, Deadline.after(0, ticker)));

    assertEquals(Kind.UNREACHABLE, fault.kind());
    assertTrue(fault.isTimeOut());
    nodes.close();
  }

  @Test
  void otherMastersThanBeforeAreToldOnce() throws Exception {
    try (Topology servers = servers(fake.uri())) {
      AtomicInteger changes = new AtomicInteger();
      servers.onChange(changes::incrementAndGet);
      run(servers);
      servers.refresh();
      assertEquals(0, changes.get(), "the first map is no change, and the same one neither");
      fake.tell(0, 0);
      servers.refresh();
      servers.refresh();
      assertEquals(1, changes.get());
    }
  }

  /** As while the client is suspended: the masters are those of before, without their data. */
  @Test
  void aFailoverAndOneBackBetweenTwoQueriesAreToldOnce() throws Exception {
    tellEpoch(1);
    try (Topology servers = servers(fake.uri())) {
      AtomicInteger changes = new AtomicInteger();
      servers.onChange(changes::incrementAndGet);
      run(servers);

      tellEpoch(3);
      servers.refresh();
      servers.refresh();

      assertEquals(1, changes.get());
    }
  }

  private void tellEpoch(long epoch) {
    fake.stateBy(0, "ok", epoch);
    fake.stateBy(1, "ok", epoch);
  }

  @Test
  void aNodeThatHasMissedAFailoverDoesNotTurnTheMapBack() throws Exception {
    assertFollowsTheOtherNode(() -> {});
  }

  @Test
  void aNodeThatIsCutOffIsNotBelievedHoweverOftenItHasVoted() throws Exception {
    assertFollowsTheOtherNode(() -> fake.stateBy(0, "fail", 9));
  }

  /** Asserts that the map turns to node 1, once, when that has become the master of all slots. */
  private void assertFollowsTheOtherNode(Runnable changeOfTheFormerMaster) throws Exception {
    tellEpoch(1);
    try (Topology servers = servers(fake.uri())) {
      AtomicInteger changes = new AtomicInteger();
      servers.onChange(changes::incrementAndGet);
      run(servers);
      changeOfTheFormerMaster.run();
      fake.tellBy(1, 1, 1);
      fake.stateBy(1, "ok", 2);

      refreshOften(servers, changes); // the order is random

      assertEquals(1, changes.get());
      assertEquals(1L, run(servers));
    }
  }

  private static void refreshOften(Topology servers, AtomicInteger changes) {
    await()
        .atMost(BackgroundCall.LIVENESS)
        .until(
            () -> {
              servers.refresh();
              return changes.get() > 0;
            });
    for (int i = 0; i < 20; i++) {
      servers.refresh();
    }
  }

  @Test
  void anEpochThatNobodyNamesAnyMoreIsForgotten() throws Exception {
    HostAndPort only = HostAndPort.from(fake.node(1).address());
    ClusterNodes nodes = nodes(only);
    fake.tell(1, 1);
    fake.stateBy(1, "ok", 7);
    FakeTicker ticker = new FakeTicker();
    SlotMapCache cache = new SlotMapCache(nodes, workers, ticker, TestSettings.DEFAULTS.random());
    cache.refresh();
    fake.tell(1, -1);
    fake.stateBy(1, "ok", 0); // set up again

    cache.refresh();
    assertEquals(only, cache.masterOf(SlotMap.SLOTS - 1));

    ticker.advance(SlotMapCache.FORGET_NANOS);
    cache.refresh();
    assertNull(cache.masterOf(SlotMap.SLOTS - 1));
    nodes.close();
  }

  @Test
  void aClusterThatIsInUseIsAskedAtEveryLook() throws Exception {
    try (Topology servers = servers(fake.uri())) {
      servers.checkForFailover(true);
      run(servers);
      for (int asked = 2; asked < 5; asked++) {
        int times = asked;
        servers.checkForFailover(false);
        servers.checkForFailover(true);
        await().atMost(BackgroundCall.LIVENESS).until(() -> fake.timesAsked() == times);
        await().atMost(BackgroundCall.LIVENESS).until(this::nobodyAsks);
      }
    }
  }

  /** Workers go when they have nothing to do, or wait for the next task. */
  private boolean nobodyAsks() {
    return Thread.getAllStackTraces().entrySet().stream()
        .filter(thread -> thread.getKey().getName().startsWith("mortise-worker-test"))
        .allMatch(
            thread ->
                Stream.of(thread.getValue())
                    .noneMatch(
                        frame -> frame.getClassName().startsWith(SlotMapCache.class.getName())));
  }

  @Test
  void aNodeThatLeavesIsDisconnectedAndASeedIsNot() throws Exception {
    try (Topology servers = servers(fake.uri(1))) {
      run(servers);
      assertEquals(1, fake.node(0).connections());
      fake.tell(1, 1);
      servers.refresh();
      await().atMost(BackgroundCall.LIVENESS).until(() -> fake.node(0).connections() == 0);
      assertEquals(1L, run(servers));
      fake.tell(0, 0);
      servers.refresh();
      assertEquals(0L, run(servers));
      assertEquals(1, fake.node(1).connections(), "it may be asked again");
    }
  }

  @Test
  void aMasterThatHasNoSlotYetStaysConnectedWhileKeysMoveThere() throws Exception {
    fake.tell(0, 0);
    fake.answer(0, command -> fake.ask(fake.nameAt(0, 1), 1));
    try (Topology servers = servers(fake.uri(0))) {
      for (int i = 0; i < 3; i++) {
        assertEquals(1L, run(servers));
        servers.refresh();
      }
      assertEquals(1, timesConnected(1), "connections that were made");

      servers.refresh();
      await().atMost(BackgroundCall.LIVENESS).until(() -> fake.node(1).connections() == 0);
    }
  }

  private long timesConnected(int node) {
    return fake.node(node).greeted().stream()
        .filter(command -> command.equals(List.of("INFO", "server")))
        .count();
  }

  @Test
  void whoWaitsForAConnectionToANodeThatLeavesAsksTheNextWithoutAnInterrupt() throws Exception {
    fake.answer(0, command -> RespServer.SILENCE);
    ConnectionSettings one = TestSettings.connections(1);
    try (Topology servers = TopologyFactory.create(fake.uri(1), one, workers)) {
      ScriptExecutor commands =
          new ScriptExecutor(servers, workers, FakeCluster.within(LONG_NANOS));
      BackgroundCall<CommandException> first =
          BackgroundCall.start(
              () ->
                  assertThrows(
                      CommandException.class, () -> commands.run(inspect, 3_000_000_000L)));
      await().atMost(BackgroundCall.LIVENESS).until(() -> fake.said(0).size() == 1);
      BackgroundCall<Boolean> second =
          BackgroundCall.startAndPark(
              () -> {
                assertEquals(1L, commands.run(inspect).value());
                return Thread.interrupted();
              });

      fake.tell(1, 1);
      servers.refresh();
      assertEquals(Kind.UNREACHABLE, first.get().kind());
      assertFalse(second.get(), "nobody has interrupted it");
    }
  }

  @Test
  void aNodeThatIsMadeAfterTheClosingIsClosed() {
    ClusterNodes nodes = nodes();
    nodes.close();
    RedisNode late = nodes.at(new HostAndPort("localhost", 1));
    CommandException fault =
        assertThrows(
            CommandException.class,
            () -> late.exchange((connection, deadline) -> "", TestSettings.after(LONG_NANOS)));
    assertEquals(Kind.CLIENT_CLOSED, fault.kind());
  }

  @Test
  void aClosedClusterIsClosedAndAsksNobody() throws Exception {
    Topology servers = servers(fake.uri());
    run(servers);
    servers.close();
    CommandException fault = assertThrows(CommandException.class, () -> run(servers));
    assertEquals(Kind.CLIENT_CLOSED, fault.kind());
    await()
        .atMost(BackgroundCall.LIVENESS)
        .until(() -> Stream.of(0, 1).allMatch(i -> fake.node(i).connections() == 0));
    assertEquals(1, fake.timesAsked());
  }

  @Test
  void anotherMasterIsReportedAgainIfAnErrorEndedTheReport() throws Exception {
    AtomicInteger reports = new AtomicInteger();
    try (Topology servers = servers(fake.uri())) {
      servers.onChange(
          () -> {
            if (reports.getAndIncrement() == 0) {
              throw new StackOverflowError("on purpose");
            }
          });
      run(servers);
      fake.tell(1, 0);

      assertThrows(StackOverflowError.class, servers::refresh);
      servers.refresh();
      servers.refresh();

      assertEquals(2, reports.get());
    }
  }

  @Test
  void otherChannelsAreReportedAgainIfAnErrorEndedTheReport() throws Exception {
    AtomicInteger reports = new AtomicInteger();
    fake.tellOfShardsBy(1, FakeCluster.NO_SHARDS);
    fake.tell(0, 0);
    try (Topology servers = servers(fake.uri())) {
      run(servers);
      assertTrue(servers.isSharded());
      fake.tell(0, 1);
      servers.onChange(
          () -> {
            if (reports.getAndIncrement() == 1) { // after the report of the slots
              throw new StackOverflowError("on purpose");
            }
          });

      assertThrows(StackOverflowError.class, servers::refresh);
      assertFalse(servers.isSharded());
      servers.refresh();
      servers.refresh();

      assertEquals(3, reports.get());
    }
  }
}
