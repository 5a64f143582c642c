package io.mortise.benchmarks.locks;

import java.util.Locale;

/** The kinds of locks that are measured. */
public enum MeasuredLock {
  PLAIN,
  FAIR,
  WRITE,
  READ,
  /** An attempt to write while others read, which is refused. */
  WRITE_ATTEMPT,
  /** All of several names. */
  MULTI,
  /** A majority of several servers. */
  QUORUM;

  /** Its name in the JSON. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
