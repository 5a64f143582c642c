package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What an error has interrupted is completed, whatever errors come on the way. */
class CompletionsTest {
  private final List<Runnable> handedOver = new ArrayList<>();
  private boolean noWorker;
  private final Completions completions = new Completions(this::handOver);
  private final Broken broken = new Broken();

  private void handOver(Runnable task) {
    if (noWorker) {
      throw new OutOfMemoryError("on purpose");
    }
    handedOver.add(task);
  }

  /** An operation that an error has interrupted. */
  private static final class Broken implements Completions.Operation {
    private int completed;
    private boolean fails;

    @Override
    public boolean isBroken() {
      return true;
    }

    @Override
    public void complete() {
      if (fails) {
        throw new OutOfMemoryError("on purpose");
      }
      completed++;
    }
  }

  private void look() {
    completions.look();
  }

  private void runAllHandedOver() {
    List<Runnable> tasks = List.copyOf(handedOver);
    handedOver.clear();
    tasks.forEach(Runnable::run);
  }

  @Test
  void anOperationForWhichThereWasNoWorkerIsCompletedLater() {
    completions.begin(broken);
    noWorker = true;
    assertThrows(OutOfMemoryError.class, this::look);
    noWorker = false;
    look();
    runAllHandedOver();
    assertEquals(1, broken.completed);
  }

  @Test
  void anOperationWhoseWorkerFailedBeforeItBeganIsCompletedLater() {
    completions.begin(broken);
    look();
    handedOver.clear(); // an error came first
    look();
    runAllHandedOver();
    assertEquals(1, broken.completed);
  }

  @Test
  void anOperationThatCannotBeCompletedIsTriedAgain() {
    completions.begin(broken);
    broken.fails = true;
    look();
    assertThrows(OutOfMemoryError.class, this::runAllHandedOver);
    broken.fails = false;
    look();
    runAllHandedOver();
    assertEquals(1, broken.completed);
  }

  @Test
  void anOperationThatTwoWorkersHaveIsCompletedOnce() {
    completions.begin(broken);
    look();
    look();
    runAllHandedOver();
    look();
    runAllHandedOver();
    assertEquals(1, broken.completed);
  }
}
