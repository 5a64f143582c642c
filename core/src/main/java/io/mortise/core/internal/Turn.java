package io.mortise.core.internal;

import org.jspecify.annotations.Nullable;

/** The place in the line that a hold keeps: whoever ends the hold gives it up, once. */
final class Turn {
  private final Engine engine;
  private final String lock;
  private final Gate gate;
  private final boolean withPermit;

  Turn(Engine engine, String lock, Gate gate, boolean withPermit) {
    this.engine = engine;
    this.lock = lock;
    this.gate = gate;
    this.withPermit = withPermit;
  }

  /** Whether somebody of this client waits for the end of the hold. */
  boolean isAwaited() {
    return withPermit && gate.hasWaiters();
  }

  /** The next in line asks Redis. */
  void end() {
    engine.gates().leave(lock, gate, withPermit);
  }

  /**
   * The next in line has the hold.
   *
   * @return the hold when nobody is left in the line: the caller's, to be released
   */
  @Nullable Tenure end(Tenure hold) {
    gate.put(hold);
    engine.gates().leave(lock, gate, true);
    return gate.takeOrphan();
  }
}
