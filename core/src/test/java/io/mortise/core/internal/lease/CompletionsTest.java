package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
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

  /** A map that has removed an entry may need memory to count those that are left. */
  @Test
  void anErrorAfterAnOperationWasTakenBackIsNone() {
    Completions fragile = new Completions(this::handOver, new Fragile(true));
    fragile.begin(broken);

    fragile.end(broken);

    fragile.look();
    assertEquals(List.of(), handedOver);
  }

  @Test
  void anErrorThatKeepsAnOperationEnteredIsThrown() {
    Completions fragile = new Completions(this::handOver, new Fragile(false));
    fragile.begin(broken);

    assertThrows(StackOverflowError.class, () -> fragile.end(broken));

    fragile.look();
    assertEquals(1, handedOver.size());
  }

  /** Its removals end with an error, before or after their effect. */
  private static final class Fragile extends ConcurrentHashMap<Completions.Operation, Boolean> {
    private static final long serialVersionUID = 1;

    private final boolean removes;

    Fragile(boolean removes) {
      this.removes = removes;
    }

    @Override
    public Boolean remove(Object key) {
      if (removes) {
        super.remove(key);
      }
      throw new StackOverflowError("on purpose");
    }
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
