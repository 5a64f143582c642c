package io.mortise.core.internal;

/** What tests of {@link Trips} have in common. */
final class TripParts {
  /** Who waits sleeps at once. */
  static final Glance NO_GLANCE = new Glance(0, System::nanoTime, () -> {});

  private TripParts() {}

  /** Those that do not depend on how far the server is. */
  static TripLimits limits(int alone, int together, long patienceNanos) {
    return new TripLimits(alone, together, Long.MAX_VALUE, patienceNanos);
  }
}
