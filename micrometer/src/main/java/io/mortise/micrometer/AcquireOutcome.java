package io.mortise.micrometer;

import java.util.Locale;
import java.util.concurrent.CancellationException;

/** The end of an acquisition: the only values of the tag {@code outcome}. */
enum AcquireOutcome {
  ACQUIRED,
  /** Others had the lock all the time. */
  NOT_ACQUIRED,
  /** By an interrupt, or by the cancellation of an asynchronous acquisition. */
  INTERRUPTED,
  ERROR;

  /** Returns the outcome of an acquisition that threw this. */
  static AcquireOutcome of(Throwable thrown) {
    return thrown instanceof InterruptedException || thrown instanceof CancellationException
        ? INTERRUPTED
        : ERROR;
  }

  String value() {
    return name().toLowerCase(Locale.ROOT);
  }
}
