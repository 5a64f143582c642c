package io.mortise.connection.topology;

import static io.mortise.connection.testing.RespServer.HANG_UP;
import static io.mortise.connection.testing.RespServer.error;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.pool.Reply;
import io.mortise.connection.pool.UnansweredUndoException;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestCalls;
import io.mortise.connection.testing.TestSettings;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.util.JedisClusterCRC16;

/** The nodes to which the commands of a cluster go, and how often each is sent. */
@Timeout(60)
class ClusterTopologyTest extends ClusterFixture {
  private static final String TRY_AGAIN =
      error("TRYAGAIN Multiple keys request during rehashing of slot");
  private static final String NO_SCRIPT = error("NOSCRIPT No matching script. Please use EVAL.");
  private static final long SHORT_NANOS = 400_000_000L;
  private static final long LONG_NANOS = 3_000_000_000L;

  @Test
  void eachNameGoesToTheMasterOfItsSlot() throws Exception {
    assertEquals(0L, commands.run(inspect).value());
    assertEquals(1L, commands.run(TestCalls.inspect(fake.nameAt(1, 1))).value());

    assertEquals(List.of("EVALSHA"), fake.said(0));
    assertEquals(List.of("EVALSHA"), fake.said(1));
    assertEquals(1, fake.timesAsked());
    assertEquals(2, fake.heard("PUBSUB"), "each master is asked once for its channels");
  }

  @Test
  void theIdIsAskedForOnlyByACallerWhoHasTime() {
    assertEquals(Optional.empty(), servers.clusterId(0));
    assertEquals(0, fake.timesAsked());

    assertTrue(servers.clusterId(LONG_NANOS).isPresent());
  }

  @Test
  void aSlotThatHasMovedIsFollowedAndAskedForAtItsNewNodeFromThenOn() throws Exception {
    commands.run(inspect);
    fake.tell(1, 1);
    fake.answer(0, command -> fake.moved(name, 1));

    assertEquals(1L, commands.run(inspect).value());

    await().atMost(BackgroundCall.LIVENESS).until(() -> fake.timesAsked() == 2);
    await().atMost(BackgroundCall.LIVENESS).until(this::goesToTheSecondNode);
    assertEquals(1L, commands.run(inspect).value());
    assertEquals(List.of("EVALSHA", "EVALSHA"), fake.said(0));
    assertEquals(List.of("EVALSHA", "EVALSHA"), fake.said(1));
  }

  private boolean goesToTheSecondNode() {
    return servers
        .serverOf(JedisClusterCRC16.getSlot(name))
        .toString()
        .equals(fake.node(1).address());
  }

  /** The attempts go to the first node, the second one, and the first one again. */
  @Test
  void eachAttemptWithoutAnAnswerCounts() throws Exception {
    AtomicInteger attempts = new AtomicInteger();
    fake.answer(
        0,
        command -> {
          if (attempts.incrementAndGet() > 2) {
            return ":7\r\n";
          }
          fake.tell(1, 1);
          return HANG_UP;
        });
    fake.answer(
        1,
        command -> {
          fake.tell(0, 1);
          return HANG_UP;
        });

    Reply reply = commands.run(inspect);

    assertEquals(7L, reply.value());
    assertEquals(
        4, reply.earlierAttempts(), "each node was asked over an idle and a new connection");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "?"})
  void anAddressWithoutAHostIsThatOfTheNodeThatSaysIt(String host) throws Exception {
    String port = fake.node(1).address().split(":", -1)[1];
    int slot = JedisClusterCRC16.getSlot(name);
    fake.answer(0, command -> error("MOVED %d %s:%s".formatted(slot, host, port)));

    assertEquals(1L, commands.run(inspect).value());
  }

  @Test
  void askingStandsBeforeEachCommandAtTheNodeThatGetsTheSlot() throws Exception {
    fake.answer(0, command -> fake.ask(name, 1));
    fake.answer(1, command -> command.get(0).equals("EVAL") ? ":7\r\n" : NO_SCRIPT);

    assertEquals(7L, commands.run(inspect).value());
    assertEquals(List.of("ASKING", "EVALSHA", "ASKING", "EVAL"), fake.said(1));

    assertEquals(7L, commands.run(inspect).value());
    assertEquals(List.of("EVALSHA", "EVALSHA"), fake.said(0), "the slot has not moved yet");
    assertEquals(1, fake.timesAsked());
  }

  @Test
  void keysInTwoPlacesAreTriedUntilTheyAreInOne() throws Exception {
    AtomicInteger attempts = new AtomicInteger();
    fake.answer(0, command -> fake.ask(name, 1));
    fake.answer(1, command -> attempts.incrementAndGet() < 20 ? TRY_AGAIN : ":3\r\n");

    Reply reply = commands.run(inspect);

    assertEquals(3L, reply.value());
    assertFalse(reply.repeated(), "none of the others has run");
    assertEquals(20, attempts.get());
  }

  @Test
  void keysInTwoPlacesUntilTheTimeIsOverAreAFaultThatPasses() {
    fake.answer(0, command -> fake.ask(name, 1));
    fake.answer(1, command -> TRY_AGAIN);
    long before = System.nanoTime();

    CommandException fault =
        assertThrows(CommandException.class, () -> commands.run(inspect, LONG_NANOS));

    assertTrue(System.nanoTime() - before >= LONG_NANOS);
    assertEquals(Kind.NOT_READY, fault.kind(), fault.getMessage());
    assertTrue(fault.isServerReply());
    assertFalse(fault.mayHaveExecuted());
  }

  @Test
  void silenceInTheEndDoesNotHideThatTheKeysWereOnTheirWay() {
    AtomicInteger attempts = new AtomicInteger();
    fake.answer(0, command -> attempts.incrementAndGet() < 5 ? TRY_AGAIN : RespServer.SILENCE);

    CommandException fault =
        assertThrows(CommandException.class, () -> commands.run(inspect, LONG_NANOS));

    assertEquals(Kind.NOT_READY, fault.kind(), fault.getMessage());
    assertTrue(fault.mayHaveExecuted());
    assertEquals(1, fault.unansweredAttempts(), "the silent one may still run");
  }

  /** The acquisition must not attempt again under the same holder id. */
  @Test
  void keysOnTheirWayDoNotHideAnUndoWithoutAnAnswer() {
    AtomicInteger attempts = new AtomicInteger();
    Exchange exchange =
        (connection, deadline) -> {
          if (attempts.incrementAndGet() < 3) {
            throw new JedisDataException("TRYAGAIN Multiple keys request");
          }
          while (!deadline.hasPassed()) {
            Thread.onSpinWait();
          }
          throw new UnansweredUndoException(
              "too few", new JedisConnectionException(new SocketTimeoutException()));
        };

    CommandException fault =
        assertThrows(
            CommandException.class,
            () -> servers.exchange(0, exchange, TestSettings.after(SHORT_NANOS)));

    assertTrue(fault.isUndoUnanswered());
    assertEquals(3, attempts.get());
  }

  @Test
  void anInterruptDoesNotTakeThePausesAway() {
    fake.answer(0, command -> TRY_AGAIN);
    Thread.currentThread().interrupt();

    assertThrows(CommandException.class, () -> commands.run(inspect, SHORT_NANOS));

    assertTrue(Thread.interrupted());
    assertTrue(fake.said(0).size() <= 22, () -> fake.said(0).size() + " in 400 ms");
  }

  @Test
  void nodesThatSendEachOtherTheSlotAreLeftInTheEnd() {
    fake.answer(0, command -> fake.moved(name, 1));
    fake.answer(1, command -> fake.moved(name, 0));

    CommandException fault = assertThrows(CommandException.class, () -> commands.run(inspect));

    assertEquals(Kind.NOT_READY, fault.kind(), fault.getMessage());
    assertEquals(9, fake.heard("EVALSHA"));
  }

  @Test
  void aSlotThatNobodyHasIsNotReady() {
    fake.tell(-1, 1);

    CommandException fault = assertThrows(CommandException.class, () -> commands.run(inspect));

    assertEquals(Kind.NOT_READY, fault.kind());
    String slot = Integer.toString(JedisClusterCRC16.getSlot(name));
    assertTrue(
        fault.getMessage().contains(" has slot " + slot + "; give each slot"), fault.getMessage());
    assertEquals(0, fake.heard("EVALSHA"));
  }

  @Test
  void whoIsAskedNextIsTheOneThatHasTheSlotAfterItsNodeHasDied() throws Exception {
    commands.run(inspect);
    fake.tell(1, 1);
    fake.node(0).close();

    assertEquals(1L, commands.run(inspect).value());

    assertEquals(List.of("EVALSHA"), fake.said(1));
  }

  @Test
  void aLostAnswerIsRememberedWhenNobodyHasTheSlotAnyMore() throws Exception {
    commands.run(inspect);
    fake.answer(0, command -> HANG_UP);
    fake.tell(-1, 1);

    CommandException fault = assertThrows(CommandException.class, () -> commands.run(inspect));

    assertTrue(fault.mayHaveExecuted(), "it was sent, and its answer is missing");
    assertEquals(3, fake.said(0).size());
  }

  @Test
  void oneLostAnswerAndOneFromTheNewMasterCountAsRepeated() throws Exception {
    commands.run(inspect);
    fake.answer(0, command -> HANG_UP);
    fake.tell(1, 1);

    Reply reply = commands.run(inspect);

    assertEquals(1L, reply.value());
    assertTrue(reply.repeated());
  }
}
