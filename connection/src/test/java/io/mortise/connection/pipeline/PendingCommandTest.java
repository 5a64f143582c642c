package io.mortise.connection.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.pool.Reply;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.TestSettings;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/** A command that waits for the thread that sends it. */
@Timeout(60)
class PendingCommandTest {
  private static final long TOO_LONG = 600_000_000_000L;
  private static final int MANY = 400_000;
  private static final long MAX_NANOS = 4_000_000_000L; // a busy machine does not reach them all
  private static final int MAX_SPINS = 40;

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

  /**
   * An answer between the last look of the thread and its park would be missed. The answer takes
   * longer than the look, so both sides are delayed, by each pair of delays in turn.
   */
  @Test
  void anAnswerAtTheMomentOfTheParkIsNotMissed() throws Exception {
    AtomicReference<PendingCommand> next = new AtomicReference<>();
    BackgroundCall<Boolean> waiter =
        BackgroundCall.start(
            () -> {
              long start = System.nanoTime();
              for (int i = 0; i < MANY && System.nanoTime() - start < MAX_NANOS; i++) {
                PendingCommand command = command();
                next.set(command);
                spin(i / MAX_SPINS % MAX_SPINS);
                while (!command.consumeSignal()) {
                  command.await(TOO_LONG);
                }
              }
              return true;
            });
    AtomicBoolean stopped = new AtomicBoolean();
    BackgroundCall<Boolean> answering =
        BackgroundCall.start(
            () -> {
              for (int i = 0; i < MANY && !stopped.get(); i++) {
                answerNext(next, i % MAX_SPINS, stopped);
              }
              return true;
            });

    try {
      assertTrue(waiter.get());
    } finally {
      stopped.set(true);
    }
    assertTrue(answering.get());
  }

  private static void answerNext(
      AtomicReference<PendingCommand> next, int spins, AtomicBoolean stopped) {
    PendingCommand command = next.getAndSet(null);
    while (command == null && !stopped.get()) {
      Thread.onSpinWait();
      command = next.getAndSet(null);
    }
    spin(spins);
    if (command != null) {
      command.answer(reply());
    }
  }

  private static void spin(int times) {
    for (int i = 0; i < times; i++) {
      Thread.onSpinWait();
    }
  }
}
