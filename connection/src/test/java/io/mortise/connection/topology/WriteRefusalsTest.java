package io.mortise.connection.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.testing.FakeTicker;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/** A master that has become a replica: it answers what reads, and refuses what writes. */
@Timeout(60)
class WriteRefusalsTest {
  private static final long LONG_NANOS = 20_000_000_000L;

  private final FakeTicker ticker = new FakeTicker();
  private volatile boolean replica;
  private final RespServer server =
      new RespServer(
          command ->
              replica && command.get(0).equals("SET")
                  ? RespServer.error("READONLY You can't write against a read only replica.")
                  : RespServer.OK);
  private final RedisNode node = TestNodes.at(server, TestSettings.by(ticker));
  private final AtomicInteger verifications = new AtomicInteger();
  private int failing;

  WriteRefusalsTest() {
    node.onConnectionLost(
        () -> {
          if (failing-- > 0) {
            throw new StackOverflowError("on purpose");
          }
          verifications.incrementAndGet();
        });
  }

  @AfterEach
  void close() {
    node.close();
    server.close();
  }

  private void send(Command command) throws CommandException {
    var unused =
        node.exchange(
            (connection, deadline) ->
                connection.executeCommand(new CommandArguments(command).add("name").add("value")),
            Deadline.after(LONG_NANOS, ticker));
  }

  private void refusedWrite() {
    assertThrows(CommandException.class, () -> send(Command.SET));
  }

  @Test
  void readsInBetweenDoNotHaveTheHoldsVerifiedAtEachRefusedWrite() throws Exception {
    replica = true;
    for (int i = 0; i < 5; i++) {
      refusedWrite();
      send(Command.GET);
    }
    assertEquals(1, verifications.get());

    ticker.advance(WriteRefusals.PAUSE_NANOS);
    refusedWrite();
    refusedWrite();

    assertEquals(2, verifications.get());
  }

  @Test
  void withoutAReplyInBetweenTheHoldsAreVerifiedOnce() {
    replica = true;
    refusedWrite();
    ticker.advance(WriteRefusals.PAUSE_NANOS);

    refusedWrite();

    assertEquals(1, verifications.get());
  }

  @Test
  void anErrorDoesNotEndTheVerification() {
    replica = true;
    failing = 1;
    assertThrows(StackOverflowError.class, () -> send(Command.SET));

    refusedWrite();

    assertEquals(1, verifications.get());
  }
}
