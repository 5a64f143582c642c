package io.mortise.connection.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.pool.UnansweredUndoException;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** An attempt whose undo has no answer is not sent again: the undo could hit it. */
@Timeout(60)
class UnansweredUndoTest {
  private final AtomicInteger attempts = new AtomicInteger();

  private CommandException faultOf(Exchange exchange) {
    try (RespServer server = new RespServer(command -> "+PONG\r\n");
        WorkerPool workers = new WorkerPool("test");
        Topology node = TopologyFactory.create(server.uri(), TestSettings.DEFAULTS, workers)) {
      return assertThrows(
          CommandException.class,
          () -> node.exchange(0, exchange, TestSettings.after(TimeUnit.SECONDS.toNanos(20))));
    }
  }

  private UnansweredUndoException countedFailure() {
    attempts.incrementAndGet();
    return new UnansweredUndoException("too few", new JedisConnectionException("broken"));
  }

  @Test
  void aBrokenConnectionDoesNotRepeatIt() {
    CommandException fault =
        faultOf(
            (connection, deadline) -> {
              throw countedFailure();
            });

    assertEquals(1, attempts.get());
    assertEquals(Kind.NOT_REPLICATED, fault.kind());
    assertTrue(fault.isUndoUnanswered());
    assertEquals(1, fault.unansweredAttempts());
    assertTrue(String.valueOf(fault.getMessage()).startsWith("too few; "), fault::getMessage);
  }

  /** As on a virtual thread, whose interrupt closes the socket. */
  @Test
  void anInterruptDoesNotRepeatItEither() {
    CommandException fault =
        faultOf(
            (connection, deadline) -> {
              Thread.currentThread().interrupt();
              throw countedFailure();
            });

    assertTrue(Thread.interrupted());
    assertEquals(1, attempts.get());
    assertTrue(fault.isUndoUnanswered());
  }
}
