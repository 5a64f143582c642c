package io.mortise.connection.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ConnectionPool.PooledConnection;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.pool.ErrorClassifier;
import io.mortise.connection.pool.LazyConnectionPool;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestCalls;
import io.mortise.connection.testing.TestSettings;
import java.time.Duration;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;

@Timeout(60)
class LazyConnectionPoolTest {
  private static final ConnectionSettings TWO = TestSettings.connections(2);
  private static final long LONG_NANOS = Duration.ofMinutes(5).toNanos();
  private static final long SMALL_STACK = 180_000;

  private final WorkerPool workers = new WorkerPool("test");

  /** Changes each greeting; a test may slow it down. */
  private volatile UnaryOperator<String> greeting = UnaryOperator.identity();

  private final RespServer server = new RespServer(command -> "+PONG\r\n", r -> greeting.apply(r));
  private final LazyConnectionPool connections =
      new LazyConnectionPool(
          HostAndPort.from(server.address()),
          DefaultJedisClientConfig.builder().timeoutMillis(20_000).build(),
          TWO);

  @AfterEach
  void close() {
    connections.close();
    workers.close();
    server.close();
  }

  private static Deadline soon() {
    return TestSettings.after(LONG_NANOS);
  }

  @Test
  void whatIsGivenBackIsLentAgainAndWhatIsBrokenIsNot() throws Exception {
    PooledConnection first = connections.borrow(soon());
    first.giveBack(true);
    PooledConnection second = connections.borrow(soon());
    assertEquals(first.connection(), second.connection());
    second.giveBack(false);

    PooledConnection third = connections.borrow(soon());
    assertTrue(third.connection() != second.connection());
    assertEquals(1, connections.inUse());
    third.giveBack(true);
    assertEquals(0, connections.inUse());
  }

  @Test
  void anyNumberOfConnectionsMayBeAllowed() {
    LazyConnectionPool unlimited =
        new LazyConnectionPool(
            HostAndPort.from(server.address()),
            DefaultJedisClientConfig.builder().build(),
            TestSettings.connections(Integer.MAX_VALUE));

    unlimited.close();

    assertThrows(IllegalStateException.class, () -> unlimited.borrow(soon()));
  }

  @Test
  void moreThanThereAreAreNotLent() throws Exception {
    PooledConnection first = connections.borrow(soon());
    PooledConnection second = connections.borrow(soon());
    NoSuchElementException none =
        assertThrows(NoSuchElementException.class, () -> connections.borrow(TestSettings.after(0)));
    assertTrue(ErrorClassifier.of(none, "here", false).isTimeOut());
    assertEquals(2, connections.inUse());

    BackgroundCall<PooledConnection> third =
        BackgroundCall.startAndPark(() -> connections.borrow(soon()));
    second.giveBack(true);
    third.get().giveBack(true);
    first.giveBack(true);
    assertEquals(0, connections.inUse());
  }

  @Test
  void thoseWhoWaitAtTheCloseAreNotInterruptedAndSeeThatItIsClosed() throws Exception {
    PooledConnection first = connections.borrow(soon());
    PooledConnection second = connections.borrow(soon());
    BackgroundCall<Boolean> third =
        BackgroundCall.startAndPark(
            () -> {
              assertThrows(IllegalStateException.class, () -> connections.borrow(soon()));
              return Thread.currentThread().isInterrupted();
            });

    connections.close();

    assertEquals(false, third.get());
    first.giveBack(true);
    second.giveBack(false);
    assertThrows(IllegalStateException.class, () -> connections.borrow(soon()));
  }

  /** Each answer comes well within the time, all of them do not. */
  @Test
  void theStepsOfConnectingHaveOneDeadlineTogether() {
    CountDownLatch never = new CountDownLatch(1);
    greeting =
        answer -> {
          try {
            assertEquals(false, never.await(700, TimeUnit.MILLISECONDS));
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          return answer;
        };

    RuntimeException thrown =
        assertThrows(
            RuntimeException.class,
            () -> connections.borrow(TestSettings.after(1_000_000_000L)).giveBack(true));

    CommandException fault = ErrorClassifier.ofConnecting(thrown, "it");
    assertEquals(Kind.UNREACHABLE, fault.kind());
    assertEquals("it did not answer in time", fault.getMessage());
    assertEquals(0, connections.inUse());
  }

  @Test
  void aStackThatOverflowsAtAnyDepthLosesNoConnection() throws Exception {
    try (Topology servers = TopologyFactory.create(server.uri(), TWO, workers)) {
      ScriptExecutor commands = new ScriptExecutor(servers, workers, TWO);
      AtomicInteger overflows = new AtomicInteger();
      for (int round = 0; round < 60; round++) {
        int pad = round % 30;
        CountDownLatch ended = new CountDownLatch(1);
        Thread thread =
            new Thread(
                null,
                () -> {
                  try {
                    descend(servers, commands, pad);
                  } catch (StackOverflowError e) {
                    overflows.incrementAndGet();
                  } finally {
                    ended.countDown();
                  }
                },
                "deep",
                SMALL_STACK);
        thread.setDaemon(true);
        thread.start();
        assertTrue(ended.await(20, TimeUnit.SECONDS), "round " + round + " hangs");
      }

      assertEquals(60, overflows.get());
      assertEquals(0, servers.connectionsInUse());
      assertEquals("PONG", TestCalls.ping(servers, LONG_NANOS));
    }
  }

  @SuppressWarnings("InfiniteRecursion") // on purpose
  private static void descend(Topology servers, ScriptExecutor commands, int depth) {
    if (depth % 5 == 0) {
      try {
        Object unused =
            depth % 2 == 0
                ? TestCalls.ping(servers, LONG_NANOS)
                : commands.run(TestCalls.inspect("deep"));
      } catch (CommandException fault) {
        throw new AssertionError(List.of(fault).toString(), fault);
      }
    }
    descend(servers, commands, depth + 1);
  }
}
