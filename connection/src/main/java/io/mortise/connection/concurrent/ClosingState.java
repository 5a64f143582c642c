package io.mortise.connection.concurrent;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The closing state of a client: open, or closed for good.
 *
 * <p><b>Threads.</b> Any thread may read it, wait for the signal, and begin the closing; a
 * compare-and-set decides which thread begins it.
 */
public final class ClosingState {
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Signal signal = new Signal();

  /** Closes the client for all threads; returns false when it was closed before. */
  public boolean begin() {
    if (!closed.compareAndSet(false, true)) {
      return false;
    }
    signal.fire();
    return true;
  }

  public boolean isClosed() {
    return closed.get();
  }

  /** Returns the signal that fires when the closing begins. */
  public Signal signal() {
    return signal;
  }
}
