package io.mortise.connection.pool;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import java.net.SocketTimeoutException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
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

  private void assertTimesOut() {
    BackgroundCall<Object> call = BackgroundCall.start(() -> longOne(SOON, this::writeEndlessly));

    ExecutionException failed = assertThrows(ExecutionException.class, call::get);

    assertInstanceOf(JedisConnectionException.class, failed.getCause());
    assertInstanceOf(SocketTimeoutException.class, failed.getCause().getCause());
    assertTrue(connection.isBroken(), "so that it is not lent again");
  }

  @Test
  void aWriteToAServerThatReadsNothingEndsAtTheDeadline() {
    assertTimesOut();
  }

  @Test
  void aWriteEndsAtTheDeadlineAfterTheCloseToo() {
    offload.close();

    assertTimesOut();
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

  @Test
  void whatALateExchangeReturnsOrIsToldIsKept() {
    reads.countDown();
    ping();

    assertTrue(
        longOne(
            SOON,
            () -> {
              Awaitility.await()
                  .atMost(BackgroundCall.LIVENESS)
                  .until(() -> server.connections() == 0);
              return true;
            }));
    assertTrue(connection.isBroken(), "so that it is not lent again");

    JedisDataException refusal = new JedisDataException("on purpose");
    assertSame(
        refusal,
        assertThrows(
            JedisDataException.class,
            () ->
                longOne(
                    -SOON,
                    () -> {
                      throw refusal;
                    })));
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
