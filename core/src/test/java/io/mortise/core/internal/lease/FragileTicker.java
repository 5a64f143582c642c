package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;
import java.util.concurrent.atomic.AtomicInteger;

/** A clock that cannot be read while the heap is full. */
public final class FragileTicker extends Ticker {
  private final Ticker ticker;
  private final AtomicInteger failures = new AtomicInteger();
  private final AtomicInteger failuresToCome = new AtomicInteger();

  public FragileTicker(Ticker ticker) {
    this.ticker = ticker;
  }

  /** Has every reading fail until {@link #freeHeap}. */
  public void fillHeap() {
    failuresToCome.set(Integer.MAX_VALUE);
  }

  /** Has the next reading fail. */
  public void fillHeapOnce() {
    failuresToCome.set(1);
  }

  public void freeHeap() {
    failuresToCome.set(0);
  }

  /** Returns how many readings have failed. */
  public int failures() {
    return failures.get();
  }

  @Override
  public long read() {
    if (failuresToCome.getAndUpdate(count -> Math.max(0, count - 1)) > 0) {
      failures.incrementAndGet();
      throw new OutOfMemoryError("on purpose");
    }
    return ticker.read();
  }
}
