package io.mortise.spring.boot.locked;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases holds, and decides which failed release the caller hears of. One that Redis has not
 * confirmed, or has refused, is logged: the work was protected, and the client repeats the release.
 * A loss, or a doubt about one, is for the caller.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
final class HoldRelease {
  private static final Logger LOG = LoggerFactory.getLogger(HoldRelease.class);

  private HoldRelease() {}

  /**
   * Releases the hold of the current thread.
   *
   * @throws io.mortise.core.LeaseLostException if it was lost before
   * @throws LockException if it may have been lost
   */
  static void release(DistributedLock lock) {
    try {
      lock.unlock();
    } catch (LockException e) {
      if (!isOnlyUnconfirmed(e)) {
        throw e;
      }
    }
  }

  /** As {@link #release}, after the method has failed. */
  static void releaseAfter(Throwable failure, DistributedLock lock) {
    try {
      release(lock);
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  /**
   * Returns a stage that completes as the given one does, when the hold has been released. Its
   * cancellation does not reach the given one: that would complete, and free the lock, while its
   * work goes on. If the given one takes no callback, the hold is released at once, and the stage
   * fails with what was thrown.
   *
   * @param released called when the release has ended, with or without success
   */
  static <T extends @Nullable Object> CompletableFuture<T> releaseAfter(
      CompletionStage<T> work, Lease lease, Runnable released) {
    CompletableFuture<T> result = new CompletableFuture<>();
    AtomicBoolean ended = new AtomicBoolean(); // a stage may take the callback, and throw as well
    BiConsumer<@Nullable T, @Nullable Throwable> end =
        (value, failure) -> {
          if (!ended.getAndSet(true)) {
            lease
                .releaseAsync()
                .whenComplete(
                    (none, unreleased) -> {
                      released.run();
                      complete(result, value, failure, unreleased);
                    });
          }
        };
    try {
      var unused = work.whenComplete(end);
    } catch (Throwable e) {
      end.accept(null, e);
    }
    return result;
  }

  private static <T extends @Nullable Object> void complete(
      CompletableFuture<T> result,
      @Nullable T value,
      @Nullable Throwable failure,
      @Nullable Throwable unreleased) {
    Throwable loss = unreleased == null ? null : unwrapped(unreleased);
    if (loss instanceof LockException e && isOnlyUnconfirmed(e)) {
      loss = null;
    }
    boolean heard;
    if (failure != null) {
      if (loss != null) {
        failure.addSuppressed(loss);
      }
      heard = result.completeExceptionally(failure);
    } else if (loss != null) {
      heard = result.completeExceptionally(loss);
    } else {
      heard = result.complete(value);
    }
    if (loss != null && !heard) {
      LOG.warn("A locked method has ended, and its caller has cancelled the stage", loss);
    }
  }

  private static Throwable unwrapped(Throwable failure) {
    Throwable cause = failure.getCause();
    return failure instanceof CompletionException && cause != null ? cause : failure;
  }

  /** Whether the hold itself may be gone decides, not whether another release may succeed. */
  private static boolean isOnlyUnconfirmed(LockException failure) {
    if (failure.reason() == Reason.IN_DOUBT
        || failure.reason() == Reason.WRONG_TYPE) { // something has overwritten the key
      return false;
    }
    LOG.warn("A locked method has ended, and its result counts", failure);
    return true;
  }
}
