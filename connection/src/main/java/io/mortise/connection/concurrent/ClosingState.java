package io.mortise.connection.concurrent;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Whether a client is closed.
 *
 * <p><b>Threads.</b> Any thread may ask, wait for the signal, and begin the closing; one of those
 * that begin it is the first.
 */
public final class ClosingState {
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Signal signal = new Signal();

  /** Closes the client, as seen from everywhere; false when it was closed before. */
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

  /** Fires when the closing begins. */
  public Signal signal() {
    return signal;
  }
}
