package io.mortise.core.internal;

import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Lets other clients go first after a release that they have heard. Whoever releases knows of it
 * before everybody else, and would win each round: its next attempt is on its way when the message
 * reaches the others. So that attempt waits a moment.
 *
 * <p>Who has heard need not want the lock: subscriptions linger. When nobody takes it in that
 * moment, the next one is shorter, down to the least that gives a newcomer its chance; as soon as
 * somebody does, it is the longest again.
 *
 * <p>Used by all threads; entries are replaced as a whole. A name that nobody asks for again leaves
 * its entry behind, until there are too many.
 */
final class Courtesy {
  private static final long MOST_NANOS = 1_000_000L;
  private static final long LEAST_NANOS = 50_000L;
  private static final int MANY = 64;

  /** By the name of the lock: of one family, the one whose holds pass on. */
  private final Map<LockName, Pause> pauses = new ConcurrentHashMap<>();

  /**
   * The moment after a release.
   *
   * @param untilNanos when it is over
   * @param nanos how long it was
   */
  private record Pause(long untilNanos, long nanos) {}

  /**
   * The lock was released.
   *
   * @param heard how many of others have heard it
   */
  void released(LockProtocol lock, long heard, long nowNanos) {
    if (heard <= 0) {
      if (!pauses.isEmpty()) {
        pauses.remove(lock.name());
      }
      return;
    }
    if (pauses.size() > MANY) {
      pauses.values().removeIf(pause -> nowNanos - pause.untilNanos() > 0);
    }
    pauses.compute(
        lock.name(),
        (name, before) -> {
          long nanos = before == null ? MOST_NANOS : before.nanos();
          return new Pause(nowNanos + nanos, nanos);
        });
  }

  /** For how long an attempt should wait; 0 when it need not. */
  long pauseNanos(LockProtocol lock, long nowNanos) {
    if (pauses.isEmpty()) {
      return 0;
    }
    Pause pause = pauses.get(lock.name());
    return pause == null ? 0 : Math.max(0, pause.untilNanos() - nowNanos);
  }

  /** An attempt that has waited was granted, or was not. */
  void tried(LockProtocol lock, boolean granted) {
    pauses.computeIfPresent(
        lock.name(),
        (name, pause) ->
            new Pause(
                pause.untilNanos(),
                granted ? Math.max(LEAST_NANOS, pause.nanos() / 2) : MOST_NANOS));
  }
}
