package io.mortise.connection.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.FakeTicker;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import java.util.concurrent.CountDownLatch;
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
  private final CountDownLatch verifying = new CountDownLatch(1);

  /** Open, unless a test keeps a verification from its end. */
  private volatile CountDownLatch verify = new CountDownLatch(0);

  private int failing;

  WriteRefusalsTest() {
    node.onConnectionLost(
        () -> {
          if (failing-- > 0) {
            throw new StackOverflowError("on purpose");
          }
          verifying.countDown();
          Uninterruptibles.awaitUninterruptibly(verify);
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
    for (int i = 0; i < 5; i++) {
      refusedWrite();
      send(Command.GET);
    }

    assertEquals(2, verifications.get());
  }

  /** At the refusal the address may still have led to the former master. */
  @Test
  void theFirstReplyAfterRefusalsMayComeFromAnotherMaster() throws Exception {
    replica = true;
    refusedWrite();
    replica = false;
    send(Command.SET);
    assertEquals(1, verifications.get());

    ticker.advance(WriteRefusals.PAUSE_NANOS);
    send(Command.SET);
    send(Command.SET);

    assertEquals(2, verifications.get());
  }

  /** As when a failover is followed by another one, and both are over before the pause ends. */
  @Test
  void aRefusalSoonAfterAReportIsReportedByALaterReply() throws Exception {
    replica = true;
    refusedWrite();
    replica = false;
    ticker.advance(WriteRefusals.PAUSE_NANOS);
    send(Command.SET);
    assertEquals(2, verifications.get());

    replica = true;
    refusedWrite();
    replica = false;
    send(Command.SET);
    assertEquals(2, verifications.get());
    ticker.advance(WriteRefusals.PAUSE_NANOS);
    send(Command.SET);
    send(Command.SET);

    assertEquals(3, verifications.get());
  }

  /** A batch of many threads may be refused, and a client may have many holds. */
  @Test
  void ofThreadsThatAreRefusedAtTheSameMomentOneHasTheHoldsVerified() throws Exception {
    replica = true;
    verify = new CountDownLatch(1);
    BackgroundCall<Boolean> first = startRefusedWrite();
    Uninterruptibles.awaitUninterruptibly(verifying);
    try {
      assertTrue(startRefusedWrite().get());
      assertEquals(0, verifications.get());
    } finally {
      verify.countDown();
    }

    assertTrue(first.get());
    assertEquals(1, verifications.get());
  }

  private BackgroundCall<Boolean> startRefusedWrite() {
    return BackgroundCall.start(
        () -> {
          refusedWrite();
          return true;
        });
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
