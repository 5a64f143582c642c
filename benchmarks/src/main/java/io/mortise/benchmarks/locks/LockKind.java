package io.mortise.benchmarks.locks;

import java.util.Locale;

/** Which lock. */
public enum LockKind {
  PLAIN,
  FAIR,
  WRITE,
  READ,
  /** All of several names. */
  MULTI,
  /** A majority of several servers. */
  QUORUM;

  /** As it stands in the JSON. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
