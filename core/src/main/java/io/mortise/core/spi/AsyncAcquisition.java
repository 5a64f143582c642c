package io.mortise.core.spi;

import io.mortise.core.Lease;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An acquisition that completes a stage: the same wait as a blocking one, on a thread of the
 * client. Holds of the caller do not make it a self-deadlock, because the caller does not wait and
 * may release them in the meantime.
 *
 * <p><b>Threads.</b> The stage may be completed by the thread that waits, or by any other thread
 * through {@code cancel}, {@code orTimeout} or {@code completeExceptionally}. {@code decided}
 * orders the two. If another thread was first, the wait is interrupted, and a lease that is granted
 * nevertheless is released, because no caller can receive it.
 */
final class AsyncAcquisition<R> {
  private static final Logger LOG = LoggerFactory.getLogger(AsyncAcquisition.class);

  private final LeaseSource source;
  private final LeaseTerms terms;
  private final Function<Optional<Lease>, R> toResult;
  private final WaitPolicy waits;
  private final CompletableFuture<R> result = new CompletableFuture<>();
  private final AtomicBoolean decided = new AtomicBoolean();

  private AsyncAcquisition(
      LeaseSource source, LeaseTerms terms, Function<Optional<Lease>, R> toResult) {
    this.source = source;
    this.terms = terms;
    this.toResult = toResult;
    this.waits = source.waitPolicy().begun();
  }

  /**
   * Starts an acquisition.
   *
   * @param toResult makes the result of the stage
   */
  static <R> CompletionStage<R> start(
      LeaseSource source, LeaseTerms terms, Function<Optional<Lease>, R> toResult) {
    AsyncAcquisition<R> acquisition =
        new AsyncAcquisition<>(source.boundToCaller(), terms, toResult);
    acquisition.start();
    return acquisition.result;
  }

  private void start() {
    try {
      Future<?> task = source.submit(this::run);
      var unused = result.whenComplete((held, thrown) -> stop(task));
    } catch (RejectedExecutionException e) {
      result.completeExceptionally(
          new LockException(
              Reason.CLIENT_CLOSED, "lock '" + source.name() + "': its client was closed", e));
    }
  }

  /** Interrupts the wait after the stage was completed, unless the wait itself completed it. */
  private void stop(Future<?> task) {
    if (decided.compareAndSet(false, true)) {
      task.cancel(true);
    }
  }

  private void run() {
    try {
      Optional<OwnedLease> lease = waits.acquire(terms, allowed -> source.acquire(allowed, null));
      if (!decided.compareAndSet(false, true) || !complete(lease)) {
        lease.ifPresent(OwnedLease::releaseUnused);
      }
    } catch (Throwable e) { // every failure completes the stage
      decided.set(true);
      if (!StageFailure.complete(result, e)) {
        LOG.debug("lock '{}': failed after its stage was completed", source.name(), e);
      }
    }
  }

  /** Completes the stage with the lease; returns whether the stage has taken it. */
  private boolean complete(Optional<OwnedLease> lease) {
    boolean isOffered = false;
    try {
      Optional<Lease> handle = lease.map(source::guard);
      R made = toResult.apply(handle);
      lease.ifPresent(held -> held.beginMinimum(terms)); // the caller may close it at once
      isOffered = true;
      return result.complete(made);
    } finally {
      if (!isOffered) {
        lease.ifPresent(OwnedLease::releaseUnused);
      }
    }
  }
}
