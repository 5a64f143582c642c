package io.mortise.core.spi;

import java.time.Duration;
import java.util.Objects;

/**
 * The time for which a waiter without a heartbeat may delay the waiters behind it.
 *
 * <p>A waiter sends a heartbeat every quarter of the timeout; each heartbeat is valid for three
 * quarters. The next heartbeat of another waiter therefore removes a dead waiter at most one
 * timeout after its death. If the waiters behind use another timeout, the delay is at most three
 * quarters of the dead waiter's timeout plus one quarter of theirs.
 *
 * @param limit the timeout, from 200 ms to 1 h
 */
public record WaiterTimeout(Duration limit) {
  /** The default: 10 s. */
  public static final Duration DEFAULT = Duration.ofSeconds(10);

  private static final Duration MIN = Duration.ofMillis(200);
  private static final Duration MAX = Duration.ofHours(1);
  private static final int HEARTBEATS_PER_TIMEOUT = 4;

  /** Refuses a timeout that is out of its range. */
  public WaiterTimeout {
    Objects.requireNonNull(limit, "waiterTimeout");
    if (limit.compareTo(MIN) < 0 || limit.compareTo(MAX) > 0) {
      throw new IllegalArgumentException(
          "waiterTimeout must be from %s to %s, not %s".formatted(MIN, MAX, limit));
    }
  }

  /** Returns the interval between two heartbeats. */
  public long heartbeatIntervalMillis() {
    return limit.toMillis() / HEARTBEATS_PER_TIMEOUT;
  }

  /** Returns for how long a heartbeat is valid. */
  public long heartbeatValidityMillis() {
    return limit.toMillis() - heartbeatIntervalMillis();
  }
}
