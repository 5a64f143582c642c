package io.mortise.core;

import java.time.Duration;
import java.util.Objects;

/**
 * The settings of a {@link LockClient}, immutable.
 *
 * <pre>{@code
 * LockOptions options = LockOptions.builder().lease(Duration.ofSeconds(10)).build();
 * }</pre>
 *
 * @param lease how long a hold lasts in Redis without renewal, when the caller gives no lease; it
 *     is renewed at a third of it. Longer: a crashed holder blocks the others for longer. Shorter:
 *     less time to get over a fault. Default 30 s, at least 100 ms
 * @param maxHold after this time a hold is not renewed any more, so that a stuck holder ends;
 *     default 365 days, in effect never
 * @param patience how long a wait without an end of its own ({@code lock()}) goes on while Redis
 *     cannot be used; default 10 s
 * @param commandTimeout how long one command may take; default 2 s. For a client made from a {@code
 *     UnifiedJedis} of the caller's, connecting follows that client's own settings
 * @param connections the most connections to use at a time, besides one for subscriptions; default
 *     64. A client made from a {@code UnifiedJedis} of the caller's uses that client's pool
 * @param subscriptionLinger how long a channel stays subscribed after its last waiter, because
 *     contention comes in bursts; default 5 s
 * @param tokenIdleLife how long Redis keeps the last fencing token of a name that nobody acquires;
 *     default 10 min. After that the next token comes from the server's clock
 * @param clockDrift by how much the clocks of client and server may differ in rate: this share of a
 *     lease, and 2 ms more, is not relied upon, but never more than half of it; default 0.01, at
 *     most 0.5
 */
public record LockOptions(
    Duration lease,
    Duration maxHold,
    Duration patience,
    Duration commandTimeout,
    int connections,
    Duration subscriptionLinger,
    Duration tokenIdleLife,
    double clockDrift) {

  /** The longest lease and the longest wait: 365 days. A longer wait counts as this one. */
  public static final Duration MAX_LEASE = Duration.ofDays(365);

  private static final Duration MIN_DEFAULT_LEASE = Duration.ofMillis(100);
  private static final double MOST_DRIFT = 0.5;
  private static final LockOptions DEFAULTS = new Builder().build();

  /** Checks each value and names the one that is wrong. */
  public LockOptions {
    within("lease", lease, MIN_DEFAULT_LEASE, MAX_LEASE);
    within("maxHold", maxHold, lease, MAX_LEASE);
    within("patience", patience, Duration.ZERO, MAX_LEASE);
    within("commandTimeout", commandTimeout, Duration.ofMillis(10), Duration.ofMinutes(10));
    within("subscriptionLinger", subscriptionLinger, Duration.ZERO, Duration.ofHours(1));
    within("tokenIdleLife", tokenIdleLife, Duration.ofSeconds(1), MAX_LEASE);
    if (connections < 1) {
      throw new IllegalArgumentException("connections must be at least 1, not " + connections);
    }
    if (!(clockDrift >= 0 && clockDrift <= MOST_DRIFT)) {
      throw new IllegalArgumentException(
          "clockDrift must be from 0 to %s, not %s".formatted(MOST_DRIFT, clockDrift));
    }
  }

  /** The defaults. */
  public static LockOptions defaults() {
    return DEFAULTS;
  }

  /** A builder that starts from the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  private static void within(String what, Duration value, Duration least, Duration most) {
    Objects.requireNonNull(value, what);
    if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
      throw new IllegalArgumentException(
          "%s must be from %s to %s, not %s".formatted(what, least, most, value));
    }
  }

  /** Collects settings; those that are not set keep their default. */
  public static final class Builder {
    private Duration lease = Duration.ofSeconds(30);
    private Duration maxHold = MAX_LEASE;
    private Duration patience = Duration.ofSeconds(10);
    private Duration commandTimeout = Duration.ofSeconds(2);
    private int connections = 64;
    private Duration subscriptionLinger = Duration.ofSeconds(5);
    private Duration tokenIdleLife = Duration.ofMinutes(10);
    private double clockDrift = 0.01;

    private Builder() {}

    /** See {@link LockOptions#lease()}. */
    public Builder lease(Duration lease) {
      this.lease = lease;
      return this;
    }

    /** See {@link LockOptions#maxHold()}. */
    public Builder maxHold(Duration maxHold) {
      this.maxHold = maxHold;
      return this;
    }

    /** See {@link LockOptions#patience()}. */
    public Builder patience(Duration patience) {
      this.patience = patience;
      return this;
    }

    /** See {@link LockOptions#commandTimeout()}. */
    public Builder commandTimeout(Duration commandTimeout) {
      this.commandTimeout = commandTimeout;
      return this;
    }

    /** See {@link LockOptions#connections()}. */
    public Builder connections(int connections) {
      this.connections = connections;
      return this;
    }

    /** See {@link LockOptions#subscriptionLinger()}. */
    public Builder subscriptionLinger(Duration subscriptionLinger) {
      this.subscriptionLinger = subscriptionLinger;
      return this;
    }

    /** See {@link LockOptions#tokenIdleLife()}. */
    public Builder tokenIdleLife(Duration tokenIdleLife) {
      this.tokenIdleLife = tokenIdleLife;
      return this;
    }

    /** See {@link LockOptions#clockDrift()}. */
    public Builder clockDrift(double clockDrift) {
      this.clockDrift = clockDrift;
      return this;
    }

    /**
     * The options.
     *
     * @throws IllegalArgumentException if a value is out of its range
     */
    public LockOptions build() {
      return new LockOptions(
          lease,
          maxHold,
          patience,
          commandTimeout,
          connections,
          subscriptionLinger,
          tokenIdleLife,
          clockDrift);
    }
  }
}
