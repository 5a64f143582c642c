package io.mortise.connection.concurrent;

import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;

/**
 * Logs the failures of an action that is repeated until it succeeds: the first of a series as an
 * error, the others at DEBUG. Otherwise an action that is due five times a second, and fails each
 * time, would fill the log. A success ends the series.
 *
 * <p><b>Threads.</b> Any thread may call every method; a compare-and-set decides which failure is
 * the first.
 */
public final class RepeatedFailureLog {
  private final Logger log;
  private final String message;
  private final AtomicBoolean logged = new AtomicBoolean();

  public RepeatedFailureLog(Logger log, String message) {
    this.log = log;
    this.message = message;
  }

  /** Logs a failure. If there is no memory for that, the next failure is the first. */
  public void failed(Throwable failure) {
    boolean first = logged.compareAndSet(false, true);
    try {
      if (first) {
        log.error(message, failure);
      } else {
        log.debug(message, failure);
      }
    } catch (Throwable noLog) {
      logged.set(!first);
    }
  }

  /** Ends a series of failures. */
  public void succeeded() {
    if (logged.get()) {
      logged.set(false);
    }
  }
}
