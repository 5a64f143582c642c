package io.mortise.core.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A caller that waits for a stage is notified of the failure, also when memory was short. */
@Timeout(30)
class StageFailureTest {

  /** Has room for its failure at the third attempt. */
  private static final class Stage extends CompletableFuture<String> {
    int attempts;

    @Override
    public boolean completeExceptionally(Throwable failure) {
      if (++attempts < 3) {
        throw new OutOfMemoryError("on purpose");
      }
      return super.completeExceptionally(failure);
    }
  }

  private final Error failure = new OutOfMemoryError("of the acquisition");

  @Test
  void aStageIsCompletedWhenThereIsRoom() {
    Stage stage = new Stage();

    var unused = StageFailure.complete(stage, failure);

    assertEquals(3, stage.attempts);
    assertSame(failure, assertThrows(CompletionException.class, stage::join).getCause());
  }

  @Test
  void aStageThatIsCompleteStaysAsItIs() {
    CompletableFuture<String> stage = CompletableFuture.completedFuture("done");

    assertFalse(StageFailure.complete(stage, failure));
    assertEquals("done", stage.join());
  }
}
