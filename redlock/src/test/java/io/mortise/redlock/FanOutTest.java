package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls to several members: every reply is seen exactly once. */
@Timeout(60)
class FanOutTest {
  private static final int SILENT_CALLS = 16;
  private static final long BUDGET_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long LONG_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final List<FakeNode> nodes = Stream.of("a:1", "b:1", "c:1").map(FakeNode::new).toList();
  private final List<QuorumMember> members = nodes.stream().map(QuorumMember::of).toList();
  private final FanOut<String> calls = new FanOut<>(members, BUDGET_NANOS);
  private final List<String> late = new ArrayList<>();

  @Test
  void theRepliesAreThoseOfTheMembersCalled() throws Exception {
    calls.submit(0, () -> "yes");
    calls.answer(2, "known");
    calls.await(answers -> false, LONG_NANOS);

    calls.close(false, (place, answer) -> late.add(answer));
    var answers = calls.replies();

    assertEquals("yes", Objects.requireNonNull(answers.get(0)).value());
    assertNull(answers.get(1));
    assertEquals("known", Objects.requireNonNull(answers.get(2)).value());
    assertEquals(List.of(), late);
  }

  @Test
  void theWaitEndsWhenTheRepliesAreEnough() throws Exception {
    nodes.forEach(node -> node.threads = task -> new Thread(task).start());
    calls.submit(0, () -> "yes");
    calls.submit(1, () -> "yes");

    calls.await(answers -> answers.count("yes"::equals) == 2, LONG_NANOS);

    assertEquals(0, calls.open());
  }

  @Test
  void aReplyAfterTheEndGoesToTheHandlerAndCountsAsUnawaitedUntilThen() {
    List<Runnable> waiting = new ArrayList<>();
    nodes.get(1).threads = waiting::add;
    calls.submit(1, () -> "slow");
    calls.close(false, (place, answer) -> late.add(place + " " + answer));
    var answers = calls.replies();
    assertNull(answers.get(1));
    assertEquals(1, members.get(1).health().abandonedCalls());

    waiting.get(0).run();

    assertEquals(List.of("1 slow"), late);
    assertEquals(0, members.get(1).health().abandonedCalls());
  }

  /** Otherwise each call would block one more thread, for as long as a command may take. */
  @Test
  void aMemberWithManyCallsThatNobodyAwaitsIsNotCalledUntilOneOfThemIsOver() {
    AtomicLong clock = new AtomicLong();
    nodes.get(1).clock = clock::get;
    List<Runnable> waiting = new ArrayList<>();
    nodes.get(1).threads = waiting::add;
    for (int i = 0; i < 3 * SILENT_CALLS; i++) {
      abandonCall();
      clock.addAndGet(BUDGET_NANOS);
    }
    assertEquals(SILENT_CALLS + 1, waiting.size(), "one more makes sure");
    calls.submit(1, () -> "not called");
    assertEquals(0, calls.open(), "it is not awaited either");
    RuntimeException failure = Objects.requireNonNull(calls.replies().get(1)).failure();
    assertEquals(Reason.UNREACHABLE, assertInstanceOf(LockException.class, failure).reason());

    waiting.remove(0).run();
    FanOut<String> next = new FanOut<>(members, BUDGET_NANOS);
    next.submit(1, () -> "slow");

    assertEquals(1, next.open());
  }

  private void abandonCall() {
    FanOut<String> each = new FanOut<>(members, BUDGET_NANOS);
    each.submit(1, () -> "slow");
    each.close(false, FanOut.ignoreLate());
  }

  /** As rounds of many locks at a time do, which two other nodes have decided. */
  @Test
  void aMemberThatRepliesToItsManyCallsIsCalledUntilABudgetPassesWithoutAReply() {
    AtomicLong clock = new AtomicLong(10 * BUDGET_NANOS); // no call for a long time
    nodes.get(1).clock = clock::get;
    List<Runnable> waiting = new ArrayList<>();
    nodes.get(1).threads = waiting::add;
    for (int i = 0; i < 3 * SILENT_CALLS; i++) {
      abandonCall();
    }
    assertEquals(3 * SILENT_CALLS, waiting.size(), "they are young");

    for (int i = 0; i < 3; i++) {
      clock.addAndGet(BUDGET_NANOS - 1);
      waiting.remove(0).run();
      clock.addAndGet(BUDGET_NANOS - 1);
      abandonCall();
      assertEquals(3 * SILENT_CALLS, waiting.size(), "it has just replied");
    }

    clock.addAndGet(1);
    abandonCall();
    assertEquals(3 * SILENT_CALLS + 1, waiting.size(), "one more makes sure");
    clock.addAndGet(BUDGET_NANOS);
    abandonCall();
    assertEquals(3 * SILENT_CALLS + 1, waiting.size(), "it does not reply any more");
  }

  @Test
  void aCallThatHasNotBegunIsNotMadeAfterAnInterruptedEnd() {
    List<Runnable> waiting = new ArrayList<>();
    nodes.get(1).threads = waiting::add;
    calls.submit(1, () -> "not called");
    calls.close(true, (place, answer) -> late.add(answer));

    waiting.get(0).run();

    assertEquals(List.of(), late);
    assertFalse(Thread.currentThread().isInterrupted());
  }

  /** A stack that overflows before the client has taken the call: nobody will answer it. */
  @Test
  void aCallThatAnErrorKeepsFromBeingSubmittedIsNotAwaitedForEver() {
    nodes.get(0).threads =
        task -> {
          throw new StackOverflowError("on purpose");
        };
    assertThrows(StackOverflowError.class, () -> calls.submit(0, () -> "never"));

    calls.close(true, (place, answer) -> late.add(answer));

    assertEquals(0, calls.open());
    assertEquals(0, members.get(0).health().abandonedCalls());
  }

  /** The same when it has taken it. */
  @Test
  void aCallThatIsMadeInSpiteOfTheErrorHasItsReplyDelivered() {
    List<Runnable> waiting = new ArrayList<>();
    nodes.get(0).threads =
        task -> {
          waiting.add(task);
          throw new StackOverflowError("on purpose");
        };
    assertThrows(StackOverflowError.class, () -> calls.submit(0, () -> "yes"));
    calls.close(false, (place, answer) -> late.add(place + " " + answer));

    waiting.get(0).run();

    assertEquals(List.of("0 yes"), late);
    assertEquals(0, members.get(0).health().abandonedCalls());
  }

  @Test
  void withoutAThreadACallFailsOrIsMadeByTheCaller() {
    for (FakeNode node : nodes) {
      node.threads =
          task -> {
            throw new OutOfMemoryError("unable to create native thread (on purpose)");
          };
    }
    calls.submit(0, () -> "submitted");
    calls.submitOrRun(1, () -> "run by the caller");

    calls.close(false, (place, answer) -> late.add(answer));
    var answers = calls.replies();

    assertInstanceOf(LockException.class, Objects.requireNonNull(answers.get(0)).failure());
    assertEquals("run by the caller", Objects.requireNonNull(answers.get(1)).value());
  }

  @ParameterizedTest
  @ValueSource(strings = {"before", "during"})
  void anInterruptOfACallerThatMakesTheCallItselfIsKept(String when) {
    nodes.get(0).threads =
        task -> {
          throw new RejectedExecutionException("closed");
        };
    if (when.equals("before")) {
      Thread.currentThread().interrupt();
    }

    calls.submitOrRun(
        0,
        () -> {
          assertFalse(Thread.currentThread().isInterrupted(), "it is not meant for the call");
          if (when.equals("during")) {
            Thread.currentThread().interrupt();
          }
          return "yes";
        });

    assertTrue(Thread.interrupted(), "the status is kept");
    assertEquals(1, calls.count("yes"::equals));
    assertEquals(0, calls.open());
  }

  @Test
  void aCallToAClosedClientFails() {
    nodes.get(0).threads =
        task -> {
          throw new RejectedExecutionException("closed");
        };
    calls.submit(0, () -> "submitted");

    calls.close(false, FanOut.ignoreLate());
    RuntimeException failure = Objects.requireNonNull(calls.replies().get(0)).failure();

    assertNotNull(failure);
    assertTrue(failure.getMessage().contains("client was closed"), failure::getMessage);
  }

  @Test
  void aCallThatRunsOutOfMemoryHasAReplyWithThatCause() throws Exception {
    Error full = new OutOfMemoryError("on purpose");
    nodes.get(0).threads = task -> new Thread(task).start();
    calls.submit(
        0,
        () -> {
          throw full;
        });

    calls.await(answers -> false, LONG_NANOS);

    RuntimeException failure = Objects.requireNonNull(calls.replies().get(0)).failure();
    assertSame(full, Objects.requireNonNull(failure).getCause());
  }

  @Test
  void theWaitEndsAlsoWhenTheThreadOfAMemberHasNoMemoryToSeeThatTheRepliesAreEnough()
      throws Exception {
    Thread waiter = Thread.currentThread();
    List<Thread> ofMember = new ArrayList<>();
    nodes.get(0).threads = task -> ofMember.add(new Thread(task));
    nodes.get(1).threads = task -> {}; // its reply never comes
    calls.submit(0, () -> "yes");
    calls.submit(1, () -> "no");

    calls.await(
        answers -> {
          if (Thread.currentThread() != waiter) {
            throw new OutOfMemoryError("on purpose");
          }
          if (answers.count("yes"::equals) > 0) {
            return true;
          }
          if (ofMember.get(0).getState() == Thread.State.NEW) { // a park may end without a reason
            ofMember.get(0).start(); // it replies after this look
          }
          return false;
        },
        LONG_NANOS);

    assertEquals(1, calls.open());
  }
}
