package io.mortise.core.spi;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/**
 * Completes a stage with an exception, which needs memory: without any it waits for some, because a
 * caller may wait for the stage without a limit.
 *
 * <p><b>Threads.</b> Stateless; a worker calls it, which has nothing else to do.
 */
final class StageFailure {
  private static final long RETRY_NANOS = 1_000_000;

  private StageFailure() {}

  /** Completes the stage; returns false if it was complete before. */
  static boolean complete(CompletableFuture<?> stage, Throwable failure) {
    while (true) {
      try {
        return stage.completeExceptionally(failure);
      } catch (OutOfMemoryError full) {
        LockSupport.parkNanos(stage, RETRY_NANOS);
      }
    }
  }
}
