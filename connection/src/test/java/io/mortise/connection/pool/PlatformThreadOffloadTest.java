package io.mortise.connection.pool;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

/** The threads that write long commands. */
@Timeout(60)
class PlatformThreadOffloadTest {
  private static final int LONG = SocketBuffers.MIN_BYTES + 1;
  private static final long MINUTE = 60_000_000_000L;
  private static final long SOON = 200_000_000L;

  /** More than all socket buffers together take. */
  private static final byte[] ENDLESS = new byte[16 * 1024 * 1024];

  private final CountDownLatch reads = new CountDownLatch(1);
  private final RespServer server =
      new RespServer(
          command -> {
            await(reads);
            return RespServer.OK;
          });

  private final Connection connection = new Connection(HostAndPort.from(server.address()));
  private final PlatformThreadOffload offload = new PlatformThreadOffload();

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @AfterEach
  void close() {
    RedisConnection.disconnect(connection);
    reads.countDown();
    offload.close();
    server.close();
  }

  private <T> T longOne(long withinNanos, Supplier<T> exchange) {
    return offload.run(connection, LONG, TestSettings.after(withinNanos), exchange);
  }

  /** The server reads the first command, and no more. */
  private Object writeEndlessly() {
    connection.sendCommand(Command.PING);
    connection.sendCommand(new CommandArguments(Command.ECHO).add(ENDLESS));
    return connection.getOne();
  }

  /** On a thread of its own, because nothing may end a wait that has no limit. */
  private static void assertTimesOut(BackgroundCall.Task<Object> task) {
    BackgroundCall<Object> call = BackgroundCall.start(task);

    ExecutionException failed = assertThrows(ExecutionException.class, call::get);

    assertInstanceOf(JedisConnectionException.class, failed.getCause());
    assertInstanceOf(SocketTimeoutException.class, failed.getCause().getCause());
  }

  private void assertClosed() {
    assertTrue(connection.isBroken(), "so that it is not lent again");
    assertFalse(connection.isConnected());
  }

  @Test
  void aWriteToAServerThatReadsNothingEndsAtTheDeadline() {
    assertTimesOut(() -> longOne(SOON, this::writeEndlessly));
    assertClosed();
  }

  @Test
  void aWriteEndsAtTheDeadlineAfterTheCloseToo() {
    offload.close();

    assertTimesOut(() -> longOne(SOON, this::writeEndlessly));
    assertClosed();
  }

  @Test
  void anExchangeThatEndsInTimeKeepsItsConnection() {
    reads.countDown();

    assertEquals("OK", new String((byte[]) longOne(MINUTE, () -> ping()), UTF_8));

    assertFalse(connection.isBroken());
    assertEquals("OK", new String((byte[]) ping(), UTF_8), "the next borrower finds it open");
    assertEquals(1, server.connections());
  }

  private Object ping() {
    return connection.executeCommand(Command.PING);
  }

  @Test
  void onlyALongOneHasAThreadOfItsOwn() {
    Thread current = Thread.currentThread();

    assertSame(
        current,
        offload.run(connection, LONG - 1, TestSettings.after(MINUTE), Thread::currentThread));
    assertNotSame(current, longOne(MINUTE, Thread::currentThread));
  }

  /** No attempt of the same holder may follow. */
  @Test
  void anUndoWithoutAnAnswerStaysOne() {
    BackgroundCall<Object> call =
        BackgroundCall.start(
            () ->
                longOne(
                    SOON,
                    () -> {
                      try {
                        return writeEndlessly();
                      } catch (JedisConnectionException unanswered) {
                        throw new UnansweredUndoException("for a reason", unanswered);
                      }
                    }));

    ExecutionException failed = assertThrows(ExecutionException.class, call::get);

    UnansweredUndoException undo =
        assertInstanceOf(UnansweredUndoException.class, failed.getCause());
    CommandException fault = ErrorClassifier.of(undo, "the server", true);
    assertTrue(fault.isTimeOut());
    assertTrue(fault.isUndoUnanswered());
    assertTrue(String.valueOf(fault.getMessage()).contains("for a reason"));
  }

  /** Returns what runs the given step when the caller has closed the connection. */
  private static <T> Supplier<T> afterTheClose(Connection closed, Supplier<T> step) {
    return () -> {
      Awaitility.await().atMost(BackgroundCall.LIVENESS).until(() -> !closed.isConnected());
      return step.get();
    };
  }

  @Test
  void whatALateExchangeReturnsOrIsToldIsKept() {
    JedisDataException refusal = new JedisDataException("on purpose");
    try (RedisConnection own = ownConnection()) {
      Deadline soon = TestSettings.after(SOON);

      assertTrue(offload.run(own, LONG, soon, afterTheClose(own, () -> true)));
      assertTrue(own.isBroken(), "so that it is not lent again");
    }
    try (RedisConnection own = ownConnection()) {
      Deadline soon = TestSettings.after(SOON);
      Supplier<Object> refused =
          () -> {
            throw refusal;
          };

      assertSame(
          refusal,
          assertThrows(
              JedisDataException.class,
              () -> offload.run(own, LONG, soon, afterTheClose(own, refused))));
    }
  }

  private RedisConnection ownConnection() {
    HostAndPort address = HostAndPort.from(server.address());
    return RedisConnection.connect(
        address,
        new HostAddresses(address.getHost(), InetAddress::getAllByName),
        DefaultJedisClientConfig.builder().build(),
        TestSettings.after(MINUTE),
        new Random());
  }

  /** Without its greeting: as nobody, to database 0. */
  @Test
  void aConnectionOfJedisThatConnectsAgainIsNotBelieved() {
    reads.countDown();
    ping();

    assertTimesOut(() -> longOne(SOON, afterTheClose(connection, this::ping)));

    assertClosed();
  }

  @Test
  void aConnectionOfJedisThatConnectsAgainAndBlocksIsClosedAgain() {
    connection.connect();

    assertTimesOut(() -> longOne(SOON, afterTheClose(connection, this::writeEndlessly)));

    assertClosed();
  }

  @Test
  void afterTheDeadlineNothingIsSent() {
    assertTimesOut(
        () ->
            longOne(
                -SOON,
                () -> {
                  throw new IllegalStateException("it was sent");
                }));
    assertFalse(connection.isBroken());
  }

  @Test
  void aThreadThatBeginsAfterTheDeadlineSendsNothing() throws Exception {
    ExecutorService busy = Executors.newSingleThreadExecutor();
    CountDownLatch free = new CountDownLatch(1);
    AtomicBoolean sent = new AtomicBoolean();
    busy.execute(() -> await(free));
    try (PlatformThreadOffload late = new PlatformThreadOffload(busy)) {
      Deadline soon = TestSettings.after(SOON);

      assertTimesOut(() -> late.run(connection, LONG, soon, () -> sent.getAndSet(true)));

      assertFalse(connection.isBroken());
      free.countDown();
      busy.submit(() -> {}).get();
      assertFalse(sent.get());
    } finally {
      free.countDown();
    }
  }

  @Test
  void whatACommandThrowsIsThrownToItsCaller() {
    Error error = new StackOverflowError("on purpose");

    assertSame(
        error,
        assertThrows(
            StackOverflowError.class,
            () ->
                longOne(
                    MINUTE,
                    () -> {
                      throw error;
                    })));
    assertTrue(longOne(MINUTE, () -> true), "and the next command runs");
    assertEquals(1, longOne(MINUTE, () -> 1));
  }
}
