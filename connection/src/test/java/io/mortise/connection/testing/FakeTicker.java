package io.mortise.connection.testing;

import com.google.common.base.Ticker;
import java.util.concurrent.atomic.AtomicLong;

/** A clock that stands still until a test moves it on. */
public final class FakeTicker extends Ticker {
  private final AtomicLong nanos = new AtomicLong();

  public void advance(long byNanos) {
    nanos.addAndGet(byNanos);
  }

  @Override
  public long read() {
    return nanos.get();
  }
}
