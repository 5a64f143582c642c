package io.mortise.core.spi;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lease object that its user receives. If the user drops it without closing it, nothing can
 * release the hold any more: the renewal stops, a warning names the lock, and the hold ends with
 * its lease.
 *
 * <p>The garbage collector decides when the leak is detected. A listener that refers to the lease
 * prevents the detection, because the hold refers to its listeners.
 *
 * <p><b>Threads.</b> Any thread may call any method. The cleaner's thread runs {@link LeakCleanup},
 * which sends nothing.
 */
public class LeakDetectingLease implements Lease {
  // The public type: the warning is about the user's code, and its logger is found under that name.
  private static final Logger LOG = LoggerFactory.getLogger(Lease.class);
  private static final Cleaner CLEANER = Cleaner.create();

  private final OwnedLease lease;
  private final Consumer<Runnable> worker;
  private final Cleaner.Cleanable guard;

  /**
   * Guards a lease against leaks.
   *
   * @param traced whether to record where it was acquired, for the warning
   * @param worker runs a task that may block, on a thread of the client
   */
  @SuppressWarnings("this-escape") // the cleaner does not call it
  public LeakDetectingLease(OwnedLease lease, boolean traced, Consumer<Runnable> worker) {
    this.lease = lease;
    this.worker = worker;
    this.guard = CLEANER.register(this, new LeakCleanup(lease, traced));
  }

  /** Stops the renewal of an unreachable lease. Does not refer to the guarding object. */
  private static final class LeakCleanup implements Runnable {
    private static final String DROPPED = "its Lease was dropped without close()";

    private final OwnedLease lease;
    private final @Nullable Throwable acquired;

    LeakCleanup(OwnedLease lease, boolean traced) {
      this.lease = lease;
      this.acquired = traced ? new Throwable("acquired here") : null;
    }

    @Override
    public void run() {
      try {
        stopIfRenewed();
      } catch (Throwable e) { // there is no other call
        lease.stopRenewal(DROPPED);
        throw e;
      }
    }

    private void stopIfRenewed() {
      if (lease.isValid() && lease.isRenewed() && !isBeingReleased()) {
        LOG.warn(
            "lock '{}': a lease with fencing token {} was dropped without close(); it is not"
                + " renewed any more and ends in {} ms. {}",
            lease.lockName(),
            lease.fencingToken(),
            lease.remaining().toMillis(),
            acquired == null
                ? "LockOptions.traceLeases shows where it was acquired"
                : "It was acquired here:",
            acquired);
        lease.stopRenewal(DROPPED);
      }
    }

    /** A lease whose release has begun may be valid until Redis has answered; nobody dropped it. */
    private boolean isBeingReleased() {
      try {
        lease.ensureValid();
        return false;
      } catch (IllegalMonitorStateException releasing) {
        return true;
      }
    }
  }

  /** Returns the lease that this one guards. */
  protected final OwnedLease guarded() {
    return lease;
  }

  @Override
  public final String lockName() {
    return lease.lockName();
  }

  @Override
  public final long fencingToken() {
    return lease.fencingToken();
  }

  @Override
  public final State state() {
    return lease.state();
  }

  @Override
  public final boolean isValid() {
    return lease.isValid();
  }

  @Override
  public final Duration remaining() {
    return lease.remaining();
  }

  @Override
  public final Optional<LeaseLoss> loss() {
    return lease.loss();
  }

  @Override
  public final void onLost(Consumer<LeaseLoss> listener) {
    lease.onLost(listener);
  }

  @Override
  public final void onStateChange(Consumer<State> listener) {
    lease.onStateChange(listener);
  }

  @Override
  public final void ensureValid() {
    lease.ensureValid();
  }

  @Override
  public final void close() {
    try {
      lease.close();
    } finally {
      guard.clean();
      Reference.reachabilityFence(this);
    }
  }

  @Override
  public final CompletionStage<@Nullable Void> releaseAsync() {
    CompletableFuture<@Nullable Void> released = new CompletableFuture<>();
    try {
      worker.accept(() -> release(released));
    } catch (RejectedExecutionException | OutOfMemoryError noThread) {
      release(released); // a closed client has nothing to send
    }
    return released.minimalCompletionStage();
  }

  private void release(CompletableFuture<@Nullable Void> released) {
    try {
      close();
      released.complete(null);
    } catch (RuntimeException | Error e) {
      var unused = StageFailure.complete(released, e);
    }
  }

  @Override
  public final String toString() {
    return lease.toString();
  }
}
