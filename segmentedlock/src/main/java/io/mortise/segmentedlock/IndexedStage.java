package io.mortise.segmentedlock;

import io.mortise.core.Lease;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * A stage of a lease as one of a segment lease. A dependent stage would not do: its cancellation
 * does not reach the stage that it depends on, and the wait would go on for nobody.
 *
 * <p><b>Threads.</b> Any thread may complete the result: the acquisition, or its caller by {@code
 * cancel}, {@code orTimeout} or {@code completeExceptionally}. If the caller was first, the wait
 * ends, and a lease that is granted nevertheless is released.
 */
final class IndexedStage {
  private IndexedStage() {}

  static CompletionStage<Optional<SegmentLease>> of(
      CompletionStage<Optional<Lease>> stage, Function<Lease, SegmentLease> indexed) {
    CompletableFuture<Optional<Lease>> asked = stage.toCompletableFuture();
    CompletableFuture<Optional<SegmentLease>> result = new CompletableFuture<>();
    var unusedForward =
        asked.whenComplete(
            (lease, thrown) -> {
              if (thrown != null) {
                result.completeExceptionally(thrown);
              } else {
                complete(result, lease, indexed);
              }
            });
    var unused = result.whenComplete((lease, thrown) -> asked.cancel(true));
    return result;
  }

  private static void complete(
      CompletableFuture<Optional<SegmentLease>> result,
      Optional<Lease> lease,
      Function<Lease, SegmentLease> indexed) {
    boolean taken = false;
    try {
      taken = result.complete(lease.map(indexed));
    } catch (Throwable e) { // every failure completes the stage
      result.completeExceptionally(e);
    } finally {
      if (!taken) {
        lease.ifPresent(IndexedStage::release);
      }
    }
  }

  private static void release(Lease lease) {
    var unused = lease.releaseAsync();
  }
}
