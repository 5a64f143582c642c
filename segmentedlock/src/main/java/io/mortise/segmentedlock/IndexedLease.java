package io.mortise.segmentedlock;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The lease of a segment, with its index. A caller that drops this object drops the guarded lease
 * too, which detects the leak.
 *
 * <p><b>Threads.</b> Immutable; any thread may call any method.
 */
final class IndexedLease implements SegmentLease {
  private final Lease lease;
  private final int index;

  IndexedLease(Lease lease, int index) {
    this.lease = lease;
    this.index = index;
  }

  @Override
  public int index() {
    return index;
  }

  @Override
  public String lockName() {
    return lease.lockName();
  }

  @Override
  public long fencingToken() {
    return lease.fencingToken();
  }

  @Override
  public State state() {
    return lease.state();
  }

  @Override
  public Duration remaining() {
    return lease.remaining();
  }

  @Override
  public Optional<LeaseLoss> loss() {
    return lease.loss();
  }

  @Override
  public void onLost(Consumer<LeaseLoss> listener) {
    lease.onLost(listener);
  }

  @Override
  public void onStateChange(Consumer<State> listener) {
    lease.onStateChange(listener);
  }

  @Override
  public void ensureValid() {
    lease.ensureValid();
  }

  @Override
  public void close() {
    lease.close();
  }

  @Override
  public CompletionStage<@Nullable Void> releaseAsync() {
    return lease.releaseAsync();
  }

  @Override
  public String toString() {
    return lease.toString();
  }
}
