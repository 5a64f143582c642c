package io.mortise.core.internal;

import io.mortise.core.internal.Gate.Trouble;
import org.jspecify.annotations.Nullable;

/**
 * One acquisition's place in the line of its lock, or no place when there is no line.
 *
 * <p>It is given back exactly once: by {@code leave}, or, once it was handed over, at the end of
 * the hold. Confined to the thread that acquires, like its acquisition.
 */
final class Place {
  private final Engine engine;
  private final String lock;
  private @Nullable Gate gate;
  private boolean permit;

  /** No place yet. */
  Place(Engine engine, String lock) {
    this.engine = engine;
    this.lock = lock;
  }

  /** Waits in the line until it is this one's turn; false when the time is over. */
  boolean enter(long nanos, boolean interruptible) throws InterruptedException {
    Gate line = engine.gates().join(lock);
    gate = line;
    permit = line.enter(nanos, interruptible);
    return permit;
  }

  /** What the first in the line ran into; null when nothing, or there is no line. */
  @Nullable Trouble trouble() {
    return gate == null ? null : gate.trouble();
  }

  /** Whether somebody has been seen to hold the lock, here or, since then, by Redis. */
  boolean isTakenSince(long nanos) {
    return isHeldHere() || (gate != null && gate.wasBusySince(nanos));
  }

  /** Whether a thread of this client holds the lock. */
  boolean isHeldHere() {
    return gate != null && gate.isHeldHere();
  }

  /** Tells the line that Redis said: busy. */
  void wasBusy() {
    if (gate != null) {
      gate.wasBusy(engine.nanos());
    }
  }

  /** Tells those behind how the last attempt went; null when it was answered. */
  void attempted(@Nullable Fault fault) {
    if (gate != null && permit) {
      gate.attempted(fault, engine.nanos());
    }
  }

  /** Goes to the end of the line, if anybody stands behind. */
  void stepBack(long nanos, boolean interruptible) throws InterruptedException {
    Gate line = gate;
    if (line != null && permit && line.hasWaiters()) {
      permit = false;
      line.pass();
      permit = line.enter(nanos, interruptible);
    }
  }

  /** From here on the place is the lease's, which gives it back when it ends. */
  void handOver(LeaseHandle lease) {
    Gate line = gate;
    if (line != null) {
      boolean withPermit = permit;
      gate = null;
      permit = false;
      lease.onEnd(() -> engine.gates().leave(lock, line, withPermit));
      if (withPermit) {
        line.heldBy(lease);
      }
    }
  }

  /** Gives the place back, unless it was handed over. */
  void leave() {
    if (gate != null) {
      engine.gates().leave(lock, gate, permit);
      gate = null;
    }
  }
}
