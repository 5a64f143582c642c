package io.mortise.connection.topology;

import static io.mortise.connection.testing.TestCalls.ping;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.logging.CapturedLog;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.pool.SentinelConnection;
import io.mortise.connection.pool.SentinelMonitor;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.FakeTicker;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;

@Timeout(60)
class SentinelConnectionPoolTest {
  /** So long that a test which waits for it fails. */
  private static final ConnectionSettings OPTIONS = TestSettings.within(Duration.ofSeconds(30));

  private static final long LONG_NANOS = Duration.ofMinutes(5).toNanos();
  private static final long SHORT_NANOS = Duration.ofMillis(100).toNanos();

  private final String masterName = "m" + UUID.randomUUID();
  private final WorkerPool workers = new WorkerPool(masterName);
  private final RespServer master = new RespServer(command -> "+PONG\r\n");
  private final AtomicInteger questions = new AtomicInteger();

  @AfterEach
  void close() {
    workers.close();
    master.close();
  }

  private Topology servers(WorkerPool workers, Object... sentinels) {
    String addresses =
        List.of(sentinels).stream().map(Object::toString).collect(Collectors.joining(","));
    return TopologyFactory.create(
        "redis-sentinel://" + addresses + "#" + masterName, OPTIONS, workers);
  }

  /** A sentinel that says so when it is asked for the address of the master. */
  private RespServer sentinel(Function<Integer, String> answer) {
    return sentinel(() -> 1, answer);
  }

  private RespServer sentinel(IntSupplier epoch, Function<Integer, String> answer) {
    AtomicReference<String> answered = new AtomicReference<>(); // belongs to the epoch
    return new RespServer(
        command -> {
          if (!command.get(1).equalsIgnoreCase("MASTER")) {
            return answered.get();
          }
          String epochNow = String.valueOf(epoch.getAsInt());
          answered.set(answer.apply(questions.incrementAndGet()));
          return list("config-epoch", epochNow);
        });
  }

  private static String list(String first, String second) {
    return "*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n"
        .formatted(first.length(), first, second.length(), second);
  }

  private static String addressOf(RespServer server) {
    String[] parts = server.address().split(":", 2);
    return list(parts[0], parts[1]);
  }

  private String theMaster() {
    return addressOf(master);
  }

  /** Returns the names of the threads that ask the sentinels. */
  private List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("mortise-sentinel-" + masterName))
        .toList();
  }

  private void awaitNoThreads() {
    await().atMost(BackgroundCall.LIVENESS).untilAsserted(() -> assertEquals(List.of(), threads()));
  }

  private static void uninterruptibly(CountDownLatch latch) {
    try {
      assertTrue(latch.await(BackgroundCall.LIVENESS.toSeconds(), TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Ports that take every connection, and never say anything. */
  private static final class Silent implements AutoCloseable {
    private final List<ServerSocket> sockets = new ArrayList<>();

    Silent(int count) throws IOException {
      for (int i = 0; i < count; i++) {
        sockets.add(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
      }
    }

    Object[] addresses() {
      return sockets.stream().map(s -> "127.0.0.1:" + s.getLocalPort()).toArray();
    }

    @Override
    public void close() throws IOException {
      for (ServerSocket socket : sockets) {
        socket.close();
      }
    }
  }

  @Test
  void eachCallerWaitsForSilentSentinelsUntilItsOwnDeadlineAlone() throws Exception {
    try (Silent silent = new Silent(3);
        Topology servers = servers(workers, silent.addresses())) {
      List<BackgroundCall<CommandException>> callers = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        callers.add(
            BackgroundCall.start(
                () -> assertThrows(CommandException.class, () -> ping(servers, SHORT_NANOS))));
      }
      for (BackgroundCall<CommandException> caller : callers) {
        CommandException fault = caller.get();
        assertEquals(Kind.UNREACHABLE, fault.kind());
        assertTrue(fault.getMessage().contains("have not said in time"), fault.getMessage());
      }
    }
  }

  @Test
  void closingWaitsForNoSentinelAndEndsEveryWaitForThem() throws Exception {
    try (Silent silent = new Silent(3)) {
      Topology servers = servers(workers, silent.addresses());
      BackgroundCall<CommandException> caller =
          BackgroundCall.startAndPark(
              () -> assertThrows(CommandException.class, () -> ping(servers, LONG_NANOS)));

      BackgroundCall<Boolean> closing =
          BackgroundCall.start(
              () -> {
                servers.close();
                return true;
              });

      assertTrue(closing.get());
      assertEquals(Kind.CLIENT_CLOSED, caller.get().kind());
    }
  }

  @Test
  void whatTheSentinelsSayAfterTheCloseLeavesNothingBehind() throws Exception {
    CountDownLatch closed = new CountDownLatch(1);
    try (RespServer sentinel =
        sentinel(
            question -> {
              uninterruptibly(closed);
              return theMaster();
            })) {
      Topology servers = servers(workers, sentinel.address());
      assertThrows(CommandException.class, () -> ping(servers, SHORT_NANOS));
      servers.close();
      closed.countDown();

      awaitNoThreads();
      assertTrue(questions.get() >= 1);
      await().atMost(BackgroundCall.LIVENESS).until(() -> sentinel.connections() == 0);
    }
  }

  @Test
  void aClientThatIsClosedAtOnceLeavesNothingBehind() throws Exception {
    try (RespServer sentinel = sentinel(question -> theMaster())) {
      for (int i = 0; i < 50; i++) {
        try (Topology servers = servers(workers, sentinel.address())) {
          assertEquals("PONG", ping(servers, LONG_NANOS));
        }
      }
      awaitNoThreads();
    }
  }

  @Test
  void thoseWhoComeMeanwhileShareOneQuestion() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    try (RespServer sentinel =
            sentinel(
                question -> {
                  asked.countDown();
                  uninterruptibly(go);
                  return theMaster();
                });
        Topology servers = servers(workers, sentinel.address())) {
      List<BackgroundCall<String>> callers = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        callers.add(BackgroundCall.startAndPark(() -> ping(servers, LONG_NANOS)));
      }
      uninterruptibly(asked);
      assertEquals(1, questions.get());
      go.countDown();
      for (BackgroundCall<String> caller : callers) {
        assertEquals("PONG", caller.get());
      }
    }
  }

  @Test
  void sentinelsThatFailedAreAskedAgain() throws Exception {
    try (RespServer sentinel =
            sentinel(question -> question == 1 ? RespServer.HANG_UP : theMaster());
        Topology servers = servers(workers, sentinel.address())) {
      CommandException fault =
          assertThrows(CommandException.class, () -> ping(servers, LONG_NANOS));
      assertEquals(Kind.UNREACHABLE, fault.kind());

      assertEquals("PONG", ping(servers, LONG_NANOS));
    }
  }

  /** The scheduler's thread checks for a failover, and renews the holds. */
  @Test
  void aLogThatBlocksDoesNotKeepTheSchedulerFromItsCheck() throws Exception {
    try (RespServer sentinel =
            sentinel(question -> question == 1 ? theMaster() : RespServer.HANG_UP);
        Topology servers = servers(workers, sentinel.address());
        CapturedLog.Blocked log = CapturedLog.block("a failover of '" + masterName + "'")) {
      assertEquals("PONG", ping(servers, LONG_NANOS));

      BackgroundCall<Boolean> scheduler =
          BackgroundCall.start(
              () -> {
                while (!log.isReached()) {
                  servers.checkForFailover(true);
                  Thread.onSpinWait();
                }
                servers.checkForFailover(true);
                return true;
              });

      assertTrue(scheduler.get());
    }
  }

  @Test
  void aMasterThatTheSentinelsDoNotWatchIsToldAtOnceAsAWrongName() throws Exception {
    try (RespServer sentinel = sentinel(question -> "*-1\r\n");
        Topology servers = servers(workers, sentinel.address())) {
      CommandException fault =
          assertThrows(CommandException.class, () -> ping(servers, LONG_NANOS));

      assertEquals(Kind.MISCONFIGURED, fault.kind());
      assertFalse(fault.kind().isTransient(), "so nobody asks again and again");
      assertTrue(fault.getMessage().contains("'" + masterName + "'"), fault.getMessage());
      assertTrue(
          fault.getMessage().contains("these sentinels watch no master of that name"),
          fault.getMessage());
    }
  }

  @Test
  void aServerThatIsNoSentinelIsToldAtOnceAsAWrongUri() throws Exception {
    try (RespServer server = sentinel(question -> "-ERR unknown command `SENTINEL`\r\n");
        Topology servers = servers(workers, server.address())) {
      CommandException fault =
          assertThrows(CommandException.class, () -> ping(servers, LONG_NANOS));

      assertEquals(Kind.MISCONFIGURED, fault.kind());
      assertTrue(
          fault.getMessage().contains("these servers are no sentinels; name the sentinels"),
          fault.getMessage());
    }
  }

  @Test
  void whereNoThreadCanBeStartedTheNextCallerTriesAgain() throws Exception {
    AtomicInteger started = new AtomicInteger();
    WorkerPool.NamedThreadFactory threads =
        (task, name) -> {
          if (started.getAndIncrement() == 0) {
            throw new OutOfMemoryError("on purpose");
          }
          return new Thread(task, name);
        };
    try (WorkerPool few = new WorkerPool(masterName, threads);
        RespServer sentinel = sentinel(question -> theMaster());
        Topology servers = servers(few, sentinel.address())) {
      CommandException fault =
          assertThrows(CommandException.class, () -> ping(servers, LONG_NANOS));
      assertEquals(Kind.UNREACHABLE, fault.kind());

      assertEquals("PONG", ping(servers, LONG_NANOS));
    }
  }

  @Test
  void anotherMasterIsReportedAgainIfAnErrorEndedTheReport() throws Exception {
    AtomicReference<String> named = new AtomicReference<>(theMaster());
    try (RespServer next = new RespServer(command -> "+NEXT\r\n");
        RespServer sentinel =
            sentinel(() -> named.get().equals(theMaster()) ? 1 : 2, question -> named.get());
        Topology servers = servers(workers, sentinel.address())) {
      AtomicInteger reports = new AtomicInteger();
      servers.onChange(
          () -> {
            if (reports.getAndIncrement() < 3) {
              throw new StackOverflowError("failover, on purpose");
            }
          });
      assertEquals("PONG", ping(servers, LONG_NANOS));
      named.set(addressOf(next));

      look(servers, () -> reports.get() == 4);
      int before = questions.get();
      look(servers, () -> questions.get() > before + 3);

      assertEquals(4, reports.get());
      assertEquals(1, CapturedLog.errorsAbout("failover, on purpose").size());
    }
  }

  /** As while the client is suspended: the master of before is one again, without its data. */
  @Test
  void aFailoverAndOneBackBetweenTwoQueriesAreReported() throws Exception {
    AtomicInteger epoch = new AtomicInteger(1);
    try (RespServer sentinel = sentinel(epoch::get, question -> theMaster());
        Topology servers = servers(workers, sentinel.address())) {
      AtomicInteger changes = new AtomicInteger();
      servers.onChange(changes::incrementAndGet);
      assertEquals("PONG", ping(servers, LONG_NANOS));
      look(servers, () -> questions.get() > 3);
      assertEquals(0, changes.get());

      epoch.set(3);
      look(servers, () -> changes.get() > 0);
      int before = questions.get();
      look(servers, () -> questions.get() > before + 3);

      assertEquals(1, changes.get());
      assertEquals("PONG", ping(servers, LONG_NANOS));
    }
  }

  private static void look(Topology servers, Callable<Boolean> until) {
    await()
        .atMost(BackgroundCall.LIVENESS)
        .pollInterval(Duration.ofMillis(20))
        .until(
            () -> {
              servers.checkForFailover(true);
              return until.call();
            });
  }

  @Test
  void aSentinelThatIsCutOffDoesNotTurnTheClientBack() throws Exception {
    AtomicReference<String> other = new AtomicReference<>(theMaster());
    try (RespServer next = new RespServer(command -> "+NEXT\r\n");
        RespServer cutOff = sentinel(() -> 1, question -> theMaster());
        RespServer knowing =
            sentinel(() -> other.get().equals(theMaster()) ? 1 : 2, question -> other.get());
        Topology servers = servers(workers, cutOff.address(), knowing.address())) {
      AtomicInteger changes = new AtomicInteger();
      servers.onChange(changes::incrementAndGet);
      assertEquals("PONG", ping(servers, LONG_NANOS));
      other.set(addressOf(next));
      look(servers, () -> changes.get() == 1);
      assertEquals("NEXT", ping(servers, LONG_NANOS));

      other.set(RespServer.HANG_UP);
      int before = questions.get();
      look(servers, () -> questions.get() > before + 10);

      assertEquals("NEXT", ping(servers, LONG_NANOS));
      assertEquals(1, changes.get(), "the one that is left has never heard of a failover");
    }
  }

  @Test
  void theFirstWordIsNotBelievedBeforeMostHaveSpoken() throws Exception {
    CountDownLatch spoken = new CountDownLatch(1);
    try (RespServer former = new RespServer(command -> "+FORMER\r\n");
        RespServer cutOff =
            sentinel(
                () -> 1,
                question -> {
                  spoken.countDown();
                  return addressOf(former);
                });
        RespServer second = sentinel(() -> 2, question -> waitFor(spoken));
        RespServer third = sentinel(() -> 2, question -> waitFor(spoken));
        Topology servers = servers(workers, cutOff.address(), second.address(), third.address())) {
      assertEquals("PONG", ping(servers, LONG_NANOS));
    }
  }

  private String waitFor(CountDownLatch latch) {
    uninterruptibly(latch);
    return theMaster();
  }

  @Test
  void whenMostAreSilentTheOthersAreBelievedAfterHalfOfTheTime() throws Exception {
    try (Silent silent = new Silent(2);
        RespServer speaks = sentinel(question -> theMaster());
        Topology servers =
            servers(workers, silent.addresses()[0], silent.addresses()[1], speaks.address())) {
      assertEquals("PONG", ping(servers, 40 * SHORT_NANOS));
    }
  }

  @Test
  void aSentinelThatBecameSilentIsAskedOverANewConnection() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    AtomicInteger silent = new AtomicInteger();
    try (RespServer next = new RespServer(command -> "+NEXT\r\n");
        RespServer sentinel =
            sentinel(
                () -> over.get() ? 2 : 1,
                question ->
                    !over.get()
                        ? theMaster()
                        : silent.getAndIncrement() == 0 ? RespServer.SILENCE : addressOf(next));
        Topology servers = servers(workers, sentinel.address())) {
      assertEquals("PONG", ping(servers, LONG_NANOS));
      over.set(true);

      look(servers, () -> ping(servers, LONG_NANOS).equals("NEXT"));
      assertEquals(1, sentinel.connections(), "the silent connection was closed");
    }
  }

  @Test
  void anIdleClientWhoseCommandWasInVainAsksAtTheNextLook() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    try (RespServer next = new RespServer(command -> "+NEXT\r\n");
        RespServer sentinel =
            sentinel(() -> over.get() ? 2 : 1, q -> over.get() ? addressOf(next) : theMaster());
        Topology servers = servers(workers, sentinel.address())) {
      AtomicInteger changes = new AtomicInteger();
      servers.onChange(changes::incrementAndGet);
      assertEquals("PONG", ping(servers, LONG_NANOS));
      over.set(true);
      master.close();
      assertThrows(CommandException.class, () -> ping(servers, LONG_NANOS));

      servers.checkForFailover(false);

      await().atMost(BackgroundCall.LIVENESS).until(() -> changes.get() == 1);
      assertEquals("NEXT", ping(servers, LONG_NANOS));
    }
  }

  @Test
  void whoWaitsForAConnectionToTheFormerMasterGetsOneToTheNext() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    AtomicInteger asked = new AtomicInteger();
    ConnectionSettings one = TestSettings.connections(1);
    try (RespServer former =
            new RespServer(
                command -> {
                  asked.incrementAndGet();
                  return RespServer.SILENCE;
                });
        RespServer sentinel =
            sentinel(() -> over.get() ? 2 : 1, q -> over.get() ? theMaster() : addressOf(former));
        Topology servers =
            TopologyFactory.create(
                "redis-sentinel://" + sentinel.address() + "#" + masterName, one, workers)) {
      servers.onChange(() -> {});
      BackgroundCall<String> first = BackgroundCall.start(() -> ping(servers, LONG_NANOS));
      await().atMost(BackgroundCall.LIVENESS).until(() -> asked.get() == 1);
      BackgroundCall<String> second = BackgroundCall.startAndPark(() -> ping(servers, LONG_NANOS));
      over.set(true);
      BackgroundCall<Boolean> looking =
          BackgroundCall.start(
              () -> {
                while (!second.isDone()) {
                  servers.checkForFailover(true);
                  Thread.onSpinWait();
                }
                return true;
              });

      assertEquals("PONG", second.get());
      assertTrue(looking.get());
      former.restart();
      assertEquals("PONG", first.get());
    }
  }

  @Test
  void aWordThatIsNotRepeatedIsForgottenWhileMostSpeak() throws Exception {
    AtomicBoolean madeAnew = new AtomicBoolean();
    AtomicReference<String> gone = new AtomicReference<>(theMaster());
    FakeTicker ticker = new FakeTicker();
    try (RespServer next = new RespServer(command -> "+NEXT\r\n");
        RespServer leaves = sentinel(() -> 9, question -> gone.get());
        RespServer second = sentinel(() -> 0, q -> madeAnew.get() ? addressOf(next) : theMaster());
        RespServer third = sentinel(() -> 0, q -> madeAnew.get() ? addressOf(next) : theMaster());
        SentinelMonitor monitor = monitor(ticker, leaves, second, third)) {
      HostAndPort before = HostAndPort.from(master.address());
      assertEquals(before, monitor.master(Deadline.after(LONG_NANOS, ticker)));
      await().atMost(BackgroundCall.LIVENESS).until(() -> questions.get() == 3);
      gone.set(RespServer.HANG_UP);
      madeAnew.set(true);
      askUntil(monitor, () -> questions.get() > 30);
      assertEquals(before, monitor.known());

      ticker.advance(SentinelMonitor.FORGET_NANOS);

      askUntil(monitor, () -> HostAndPort.from(next.address()).equals(monitor.known()));
    }
  }

  private static void askUntil(SentinelMonitor monitor, Callable<Boolean> condition) {
    await()
        .atMost(BackgroundCall.LIVENESS)
        .until(
            () -> {
              monitor.ask();
              return condition.call();
            });
  }

  private SentinelMonitor monitor(FakeTicker ticker, RespServer... servers) {
    List<SentinelConnection> all =
        Stream.of(servers)
            .map(
                server ->
                    new SentinelConnection(
                        HostAndPort.from(server.address()),
                        DefaultJedisClientConfig.builder().build()))
            .toList();
    return new SentinelMonitor(masterName, all, workers.threads("sentinel"), ticker);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "NOAUTH Authentication required.",
        "ERR AUTH <password> called without any password configured for the default user."
      })
  void sentinelsThatAllRefuseTheLoginAreNotAskedAgainAndAgain(String refusal) throws Exception {
    AtomicBoolean refuses = new AtomicBoolean();
    String noAuth = RespServer.error(refusal);
    try (RespServer one = new RespServer(command -> noAuth);
        RespServer other = sentinel(question -> refuses.get() ? noAuth : RespServer.HANG_UP);
        Topology servers = servers(workers, one.address(), other.address())) {
      CommandException some = assertThrows(CommandException.class, () -> ping(servers, LONG_NANOS));
      assertEquals(Kind.UNREACHABLE, some.kind(), some.getMessage());
      refuses.set(true);

      CommandException all = assertThrows(CommandException.class, () -> ping(servers, LONG_NANOS));

      assertEquals(Kind.ACCESS_DENIED, all.kind(), all.getMessage());
      assertTrue(all.getMessage().contains(refusal), all.getMessage());
    }
  }

  @Test
  void aMasterThatNobodyWatchesIsToldAsThat() throws Exception {
    try (RespServer sentinel =
            new RespServer(command -> RespServer.error("ERR No such master with that name"));
        Topology servers = servers(workers, sentinel.address())) {
      CommandException fault =
          assertThrows(CommandException.class, () -> ping(servers, LONG_NANOS));
      assertEquals(Kind.MISCONFIGURED, fault.kind(), fault.getMessage());
    }
  }
}
