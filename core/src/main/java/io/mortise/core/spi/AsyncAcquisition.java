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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An acquisition that completes a stage: the waiting is the same as ever, on a thread of the
 * client's. What the caller holds is no obstacle: it does not wait, and may give it up meanwhile.
 *
 * <p><b>Threads.</b> The stage may be completed by the thread that waits, or by anybody else: by
 * {@code cancel}, {@code orTimeout}, {@code completeExceptionally}. {@code decided} says who was
 * first. If it was somebody else, the wait is interrupted, and a lease that it was granted all the
 * same is released, because nobody can receive it.
 */
final class AsyncAcquisition {
  private static final Logger LOG = LoggerFactory.getLogger(AsyncAcquisition.class);

  private final LeaseSource source;
  private final LeaseTerms terms;
  private final CompletableFuture<Optional<Lease>> result = new CompletableFuture<>();
  private final AtomicBoolean decided = new AtomicBoolean();

  private AsyncAcquisition(LeaseSource source, LeaseTerms terms) {
    this.source = source;
    this.terms = terms;
  }

  static CompletionStage<Optional<Lease>> start(LeaseSource source, LeaseTerms terms) {
    AsyncAcquisition acquisition = new AsyncAcquisition(source.boundToCaller(), terms);
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

  /** The stage is complete: unless the wait itself has completed it, nobody waits any more. */
  private void stop(Future<?> task) {
    if (decided.compareAndSet(false, true)) {
      task.cancel(true);
    }
  }

  private void run() {
    try {
      Optional<OwnedLease> lease = source.acquire(terms, null);
      if (!decided.compareAndSet(false, true) || !complete(lease)) {
        lease.ifPresent(OwnedLease::close);
      }
    } catch (Throwable e) { // whatever it is, it belongs to whoever waits for the stage
      decided.set(true);
      if (!result.completeExceptionally(e)) {
        LOG.debug("lock '{}': failed after its stage was completed", source.name(), e);
      }
    }
  }

  /** Whether the stage has taken the lease; on an error it has not. */
  private boolean complete(Optional<OwnedLease> lease) {
    boolean mayBeTaken = false;
    try {
      Optional<Lease> handle = lease.map(source::guard);
      mayBeTaken = true;
      return result.complete(handle);
    } finally {
      if (!mayBeTaken) {
        lease.ifPresent(OwnedLease::close);
      }
    }
  }
}
