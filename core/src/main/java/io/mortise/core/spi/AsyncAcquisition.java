package io.mortise.core.spi;

import io.mortise.core.Lease;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An acquisition that completes a stage: the waiting is the same as ever, on a thread of the
 * client's. What the caller holds is no obstacle: it does not wait, and may give it up meanwhile.
 */
final class AsyncAcquisition {
  private static final Logger LOG = LoggerFactory.getLogger(AsyncAcquisition.class);

  private AsyncAcquisition() {}

  static CompletionStage<Optional<Lease>> start(LeaseSource source, Terms terms) {
    LeaseSource called = source.detached();
    CompletableFuture<Optional<Lease>> result = new CompletableFuture<>();
    try {
      Future<?> task = called.submit(() -> complete(result, called, terms));
      var unused =
          result.whenComplete(
              (held, thrown) -> {
                if (result.isCancelled()) {
                  task.cancel(true);
                }
              });
    } catch (RejectedExecutionException e) {
      result.completeExceptionally(
          new LockException(
              Reason.CLIENT_CLOSED, "lock '" + source.name() + "': its client was closed", e));
    }
    return result;
  }

  private static void complete(
      CompletableFuture<Optional<Lease>> result, LeaseSource called, Terms terms) {
    try {
      Optional<OwnedLease> lease = called.acquire(terms, null);
      if (!result.complete(lease.map(held -> held)) && lease.isPresent()) {
        lease.get().close(); // cancelled at the same moment: nobody has the handle
      }
    } catch (Throwable e) { // whatever it is, it belongs to whoever waits for the stage
      if (!result.completeExceptionally(e)) {
        LOG.debug("lock '{}': failed after it was cancelled", called.name(), e);
      }
    }
  }
}
