package io.mortise.redlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A pause of this process is no silence of its nodes. */
@Timeout(60)
class PauseOfTheProcessTest {
  private static final long BUDGET_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final long PAUSE_NANOS = 10 * BUDGET_NANOS;

  private final List<FakeNode> nodes = Stream.of("a:1", "b:1", "c:1").map(FakeNode::new).toList();
  private final QuorumMembers members =
      new QuorumMembers(
          nodes.stream().map(QuorumMember::of).toList(), Duration.ofNanos(BUDGET_NANOS));
  private final Queue<Runnable> replies = new ArrayDeque<>();
  private final FanOut<String> calls = members.fanOut(BUDGET_NANOS);

  /** Calls all members, and waits for all; their replies are made by hand. */
  private FutureTask<Integer> callAll() {
    for (int i = 0; i < nodes.size(); i++) {
      nodes.get(i).threads = replies::add;
      calls.submit(i, () -> "yes");
    }
    return new FutureTask<>(
        () -> {
          calls.await(answers -> false, BUDGET_NANOS);
          return calls.count("yes"::equals);
        });
  }

  /** The waiting thread reads these times one after the other, and then the last one for ever. */
  private void clockReads(long... nanos) {
    Queue<Long> readings = new ArrayDeque<>(LongStream.of(nanos).boxed().toList());
    nodes.get(0).clock =
        () -> readings.size() > 1 ? readings.remove() : readings.element().longValue();
  }

  private static Thread started(Runnable task) {
    Thread thread = new Thread(task);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  @Test
  void repliesThatArriveInThePauseAreReadAfterIt() throws Exception {
    FutureTask<Integer> waiting = callAll();
    clockReads(0, PAUSE_NANOS);
    Thread waiter = started(waiting);
    await().until(() -> waiting.isDone() || waiter.getState() == Thread.State.TIMED_WAITING);

    replies.forEach(Runnable::run);

    assertEquals(3, waiting.get());
  }

  @Test
  void membersThatStaySilentAfterThePauseHaveOneMoreBudget() throws Exception {
    FutureTask<Integer> waiting = callAll();
    clockReads(0, PAUSE_NANOS, PAUSE_NANOS + BUDGET_NANOS);
    started(waiting);

    assertEquals(0, waiting.get(20, TimeUnit.SECONDS));
  }

  @Test
  void aSecondPauseDoesNotProlongTheWaitAgain() throws Exception {
    FutureTask<Integer> waiting = callAll();
    clockReads(0, PAUSE_NANOS, 10 * PAUSE_NANOS);
    started(waiting);

    assertEquals(0, waiting.get(20, TimeUnit.SECONDS));
  }

  @Test
  void aThreadThatWakesALittleLateWaitsALittleLonger() throws Exception {
    FutureTask<Integer> waiting = callAll();
    clockReads(0, BUDGET_NANOS + 1, BUDGET_NANOS + 1, BUDGET_NANOS + 2);
    started(waiting);

    assertEquals(0, waiting.get(20, TimeUnit.SECONDS));
  }

  /** As without memory for the count of the replies. */
  @Test
  void anErrorInTheWaitKeepsAnInterrupt() {
    nodes.get(1).threads = replies::add;
    calls.submit(1, () -> "yes");
    Thread.currentThread().interrupt();

    assertThrows(
        OutOfMemoryError.class,
        () ->
            calls.awaitAndClose(
                answers -> {
                  throw new OutOfMemoryError("on purpose");
                },
                BUDGET_NANOS));

    assertTrue(Thread.interrupted());
    replies.forEach(Runnable::run);
    assertNull(calls.valueAt(1), "nobody reads later replies");
  }

  @Test
  void anInterruptEndsTheProlongedWait() throws Exception {
    FutureTask<Integer> waiting = callAll();
    clockReads(0, PAUSE_NANOS);
    Thread waiter = started(waiting);
    await().until(() -> waiting.isDone() || waiter.getState() == Thread.State.TIMED_WAITING);

    waiter.interrupt();

    await().until(waiting::isDone);
    assertTrue(waiting.toString().contains("InterruptedException"), waiting::toString);
  }
}
