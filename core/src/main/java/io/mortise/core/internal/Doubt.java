package io.mortise.core.internal;

/**
 * Attempts of one acquisition whose answers are missing: each of them may still take effect.
 *
 * @param attempts how many
 * @param untilNanos when the lease that the last of them may have been given has run out
 */
record Doubt(int attempts, long untilNanos) {
  static final Doubt NONE = new Doubt(0, 0);

  boolean exists() {
    return attempts > 0;
  }

  Doubt another(long untilNanos) {
    return new Doubt(attempts + 1, untilNanos);
  }
}
