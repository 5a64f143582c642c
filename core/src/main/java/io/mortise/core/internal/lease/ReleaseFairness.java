package io.mortise.core.internal.lease;

import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The fairness between clients: delays the attempts of this client for a moment after a release
 * that other clients have heard.
 *
 * <p>Example: client A releases a lock that client B waits for, and acquires it again at once. A
 * knows of its release first, so its attempt is on its way before the message reaches B, and A
 * would win each round. So A pauses before that attempt.
 *
 * <p><b>Length of the pause.</b> When no other client acquires the lock during the pause, the next
 * pause is half as long, down to a minimum that gives a newcomer its chance. As soon as another
 * client does, the next pause has the full length again.
 *
 * <p><b>Threads.</b> Any thread may call any method; entries are immutable and replaced as a whole.
 * A lock that is not used again leaves its entry behind, until a later release removes old entries.
 */
public final class ReleaseFairness {
  private static final long MAX_PAUSE_NANOS = 1_000_000L;
  private static final long MIN_PAUSE_NANOS = 50_000L;

  /** The number of entries above which old ones are removed. */
  private static final int SWEEP_SIZE = 64;

  private static final long RETENTION_NANOS = 10_000_000_000L;

  private final long maxPauseNanos;

  /**
   * By the name of the lock: families whose holds are handed off refuse the names of each other.
   */
  private final Map<LockName, Pause> pauses = new ConcurrentHashMap<>();

  /** When old entries were last removed. */
  private final AtomicLong sweptNanos;

  /** Creates a fairness with the default pause, at that time. */
  public ReleaseFairness(long nowNanos) {
    this(MAX_PAUSE_NANOS, nowNanos);
  }

  /**
   * Creates a fairness with this pause.
   *
   * @param maxPauseNanos the length of the first pause
   */
  public ReleaseFairness(long maxPauseNanos, long nowNanos) {
    this.maxPauseNanos = maxPauseNanos;
    this.sweptNanos = new AtomicLong(nowNanos);
  }

  /**
   * The pause after a release.
   *
   * @param untilNanos the end of the pause
   * @param nanos its length
   */
  private record Pause(long untilNanos, long nanos) {}

  /**
   * Begins a pause after a release by this client.
   *
   * @param receivers the number of other clients' connections that received the message
   */
  void onReleased(LockProtocol lock, long receivers, long nowNanos) {
    if (receivers <= 0) {
      if (!pauses.isEmpty()) {
        pauses.remove(lock.name());
        sweep(nowNanos);
      }
      return;
    }
    sweep(nowNanos);
    pauses.compute(
        lock.name(),
        (name, previous) -> {
          long nanos = previous == null ? maxPauseNanos : previous.nanos();
          return new Pause(nowNanos + nanos, nanos);
        });
  }

  private void sweep(long nowNanos) {
    long last = sweptNanos.get();
    if (pauses.size() > SWEEP_SIZE
        && nowNanos - last > RETENTION_NANOS
        && sweptNanos.compareAndSet(last, nowNanos)) {
      pauses.values().removeIf(pause -> nowNanos - pause.untilNanos() > RETENTION_NANOS);
    }
  }

  /** Returns the number of locks that have an entry. */
  int size() {
    return pauses.size();
  }

  /** Returns the rest of the pause; 0 when there is none. */
  public long pauseNanos(LockProtocol lock, long nowNanos) {
    if (pauses.isEmpty()) {
      return 0;
    }
    Pause pause = pauses.get(lock.name());
    return pause == null ? 0 : Math.max(0, pause.untilNanos() - nowNanos);
  }

  /** Adapts the length of the next pause to the outcome of an attempt after a pause. */
  public void onAttempt(LockProtocol lock, boolean granted) {
    pauses.computeIfPresent(
        lock.name(),
        (name, pause) ->
            new Pause(
                pause.untilNanos(),
                granted ? Math.max(MIN_PAUSE_NANOS, pause.nanos() / 2) : maxPauseNanos));
  }
}
