package io.mortise.core.internal.lease;

import io.mortise.core.internal.event.AcquisitionEvents;
import io.mortise.core.spi.OwnedLease;
import java.util.List;

/**
 * The lease of one acquisition that has a hold in Redis, of its own or shared with others.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
public interface RedisHold extends OwnedLease {

  /** Returns the services of its client. */
  LeaseContext context();

  /** Returns the hold in Redis: this one, or the one that it shares. */
  RedisHold inRedis();

  /** Returns the holder id in Redis. */
  String holder();

  /** Keeps the hold from other threads; returns false when it has ended or its release began. */
  boolean pin();

  /** Returns the last token that is reserved for hand-offs of this hold; -1 for none. */
  long lastReservedToken();

  /** Gives up a lease that no caller has received: in the background, without notification. */
  void drop();

  /** Gives up all of the leases, whatever one of them throws. */
  static void dropAll(List<? extends OwnedLease> holds) {
    dropFrom(0, holds);
  }

  private static void dropFrom(int first, List<? extends OwnedLease> holds) {
    if (first < holds.size()) {
      try {
        ((RedisHold) holds.get(first)).drop();
      } finally {
        dropFrom(first + 1, holds);
      }
    }
  }

  /**
   * Reports that the hold was acquired, and what happens to it from now on: its end also if it has
   * ended by now. Called at most once, by the acquiring thread.
   */
  void reportTo(AcquisitionEvents events);
}
