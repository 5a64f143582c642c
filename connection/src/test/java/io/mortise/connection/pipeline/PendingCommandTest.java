package io.mortise.connection.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.pool.Reply;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.TestSettings;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/** A command that waits for the thread that sends it. */
@Timeout(60)
class PendingCommandTest {
  private static final long TOO_LONG = 600_000_000_000L;

  private static PendingCommand command() {
    return new PendingCommand(
        new CommandArguments(Command.PING), 100, TestSettings.after(TOO_LONG));
  }

  private static Reply reply() {
    return new Reply("an answer", null, null);
  }

  @Test
  void aSignalOrAnAnswerBeforeTheParkIsNotMissed() throws Exception {
    PendingCommand answered = command();
    answered.answer(reply());
    answered.await(TOO_LONG);
    assertEquals("an answer", answered.reply().value());

    PendingCommand signalled = command();
    signalled.signal();
    signalled.await(TOO_LONG);
    assertTrue(signalled.consumeSignal());
  }

  @Test
  void anAnswerWakesItsThread() throws Exception {
    CountDownLatch made = new CountDownLatch(1);
    PendingCommand[] one = new PendingCommand[1];
    BackgroundCall<Object> waiter =
        BackgroundCall.start(
            () -> {
              one[0] = command();
              made.countDown();
              while (!one[0].consumeSignal()) {
                one[0].await(TOO_LONG);
              }
              return one[0].reply().value();
            });
    made.await();
    waiter.awaitParked();

    one[0].answer(reply());

    assertEquals("an answer", waiter.get());
  }
}
