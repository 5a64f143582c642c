package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One question to several members: every answer is seen once, whoever asks. */
@Timeout(60)
class PollTest {
  private final List<FakeNode> nodes = Stream.of("a:1", "b:1", "c:1").map(FakeNode::new).toList();
  private final List<QuorumMember> members = nodes.stream().map(QuorumMember::of).toList();
  private final FanOut<String> poll = new FanOut<>(members);
  private final List<String> late = new ArrayList<>();

  private static long soon() {
    return System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
  }

  @Test
  void theAnswersAreThoseOfTheMembersAsked() throws Exception {
    poll.submit(0, () -> "yes");
    poll.answer(2, "known");
    poll.await(answers -> false, soon());

    var answers = poll.close(false, (place, answer) -> late.add(answer));

    assertEquals("yes", Objects.requireNonNull(answers.get(0)).value());
    assertNull(answers.get(1));
    assertEquals("known", Objects.requireNonNull(answers.get(2)).value());
    assertEquals(List.of(), late);
  }

  @Test
  void whoWaitsIsWokenWhenTheAnswersAreEnough() throws Exception {
    nodes.forEach(node -> node.threads = task -> new Thread(task).start());
    poll.submit(0, () -> "yes");
    poll.submit(1, () -> "yes");

    poll.await(answers -> answers.count("yes"::equals) == 2, Long.MAX_VALUE / 2);

    assertEquals(0, poll.open());
  }

  @Test
  void whatComesAfterTheEndIsGivenToTheRestAndCountedUntilThen() {
    List<Runnable> waiting = new ArrayList<>();
    nodes.get(1).threads = waiting::add;
    poll.submit(1, () -> "slow");
    var answers = poll.close(false, (place, answer) -> late.add(place + " " + answer));
    assertNull(answers.get(1));
    assertEquals(1, members.get(1).unawaited().get());

    waiting.get(0).run();

    assertEquals(List.of("1 slow"), late);
    assertEquals(0, members.get(1).unawaited().get());
  }

  @Test
  void aQuestionThatHasNotBegunIsNotAskedAfterAnInterruptedEnd() {
    List<Runnable> waiting = new ArrayList<>();
    nodes.get(1).threads = waiting::add;
    poll.submit(1, () -> "asked in vain");
    var unused = poll.close(true, (place, answer) -> late.add(answer));

    waiting.get(0).run();

    assertEquals(List.of(), late);
    assertFalse(Thread.currentThread().isInterrupted());
  }

  @Test
  void withoutAThreadAQuestionFailsAndADemandIsMetByTheCaller() {
    for (FakeNode node : nodes) {
      node.threads =
          task -> {
            throw new OutOfMemoryError("unable to create native thread (on purpose)");
          };
    }
    poll.submit(0, () -> "asked");
    poll.submitOrRun(1, () -> "demanded");

    var answers = poll.close(false, (place, answer) -> late.add(answer));

    assertInstanceOf(LockException.class, Objects.requireNonNull(answers.get(0)).failure());
    assertEquals("demanded", Objects.requireNonNull(answers.get(1)).value());
  }

  @Test
  void ofAClosedClientTheSame() {
    nodes.get(0).threads =
        task -> {
          throw new RejectedExecutionException("closed");
        };
    poll.submit(0, () -> "asked");

    RuntimeException failure =
        Objects.requireNonNull(poll.close(false, (place, answer) -> {}).get(0)).failure();

    assertNotNull(failure);
    assertTrue(failure.getMessage().contains("client was closed"), failure::getMessage);
  }
}
