package io.mortise.core;

import java.time.Duration;
import java.util.Objects;

/**
 * The options of a {@link LockClient} that are rarely set. The defaults fit most applications;
 * measure the effect of a change.
 *
 * <pre>{@code
 * LockOptions options = LockOptions.builder().tuning(tuning -> tuning.maxHandOffs(0)).build();
 * }</pre>
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
public final class LockTuning {
  private static final double MAX_DRIFT = 0.5;
  private static final int MAX_HAND_OFFS = 1_000_000;

  private final Values values;

  private record Values(
      int maxConnections,
      Duration subscriptionLinger,
      Duration tokenRetention,
      double clockDrift,
      int maxHandOffs,
      Duration maxHandOffTime) {}

  private LockTuning(Builder builder) {
    Durations.checkWithin(
        "subscriptionLinger", builder.subscriptionLinger, Duration.ZERO, Duration.ofHours(1));
    Durations.checkWithin(
        "tokenRetention", builder.tokenRetention, Duration.ofSeconds(1), Durations.MAX);
    if (builder.maxHandOffs < 0 || builder.maxHandOffs > MAX_HAND_OFFS) {
      throw new IllegalArgumentException(
          "maxHandOffs must be from 0 to %d, not %d".formatted(MAX_HAND_OFFS, builder.maxHandOffs));
    }
    Durations.checkWithin(
        "maxHandOffTime", builder.maxHandOffTime, Duration.ZERO, Duration.ofMinutes(1));
    if (builder.maxConnections < 1) {
      throw new IllegalArgumentException(
          "maxConnections must be at least 1, not " + builder.maxConnections);
    }
    if (!(builder.clockDrift >= 0 && builder.clockDrift <= MAX_DRIFT)) {
      throw new IllegalArgumentException(
          "clockDrift must be from 0 to %s, not %s".formatted(MAX_DRIFT, builder.clockDrift));
    }
    this.values =
        new Values(
            builder.maxConnections,
            builder.subscriptionLinger,
            builder.tokenRetention,
            builder.clockDrift,
            builder.maxHandOffs,
            builder.maxHandOffTime);
  }

  /**
   * Returns the largest number of connections in use at a time, plus one for subscriptions; default
   * 64. A client created from the caller's {@code UnifiedJedis} uses the pool of that client.
   */
  public int maxConnections() {
    return values.maxConnections();
  }

  /**
   * Returns how long a channel stays subscribed after its last waiter, because contention comes in
   * bursts; default 5 s. One that brings eight messages for nobody is unsubscribed before, unless
   * it is the last one at its server.
   */
  public Duration subscriptionLinger() {
    return values.subscriptionLinger();
  }

  /**
   * Returns how long Redis keeps the last fencing token of a name that is not acquired; default 10
   * min. After that the next token comes from the server's clock.
   */
  public Duration tokenRetention() {
    return values.tokenRetention();
  }

  /**
   * Returns the share of a lease by which the clocks of client and server may drift apart during
   * it: the client treats a lease as over by that share plus 2 ms early, but by half of the lease
   * at most; default 0.01, at most 0.5.
   */
  public double clockDrift() {
    return values.clockDrift();
  }

  /**
   * Returns how often a hold of a {@link RedisLock}, or of the write lock of a read-write lock that
   * is not fair, may be handed from one thread of this client to the next waiter, without a command
   * to Redis, and how many threads may join a read hold of another thread. Then it is released in
   * Redis, so that other clients have their turn. Default 100; 0 for never. A hold of a fair lock
   * is handed to at most 32 waiters, and only in the order of the queue of all clients.
   */
  public int maxHandOffs() {
    return values.maxHandOffs();
  }

  /** Returns for how long a hold may be handed on in that way; default 20 ms. */
  public Duration maxHandOffTime() {
    return values.maxHandOffTime();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof LockTuning that && values.equals(that.values);
  }

  @Override
  public int hashCode() {
    return values.hashCode();
  }

  @Override
  public String toString() {
    return values.toString().replaceFirst("Values", "LockTuning");
  }

  /**
   * Builds a tuning; options that are not set keep their default.
   *
   * <p><b>Threads.</b> Not safe for use by several threads.
   */
  public static final class Builder {
    private int maxConnections = 64;
    private Duration subscriptionLinger = Duration.ofSeconds(5);
    private Duration tokenRetention = Duration.ofMinutes(10);
    private double clockDrift = 0.01;
    private int maxHandOffs = 100;
    private Duration maxHandOffTime = Duration.ofMillis(20);

    Builder() {}

    Builder(LockTuning tuning) {
      this.maxConnections = tuning.maxConnections();
      this.subscriptionLinger = tuning.subscriptionLinger();
      this.tokenRetention = tuning.tokenRetention();
      this.clockDrift = tuning.clockDrift();
      this.maxHandOffs = tuning.maxHandOffs();
      this.maxHandOffTime = tuning.maxHandOffTime();
    }

    /** See {@link LockTuning#maxConnections()}. */
    public Builder maxConnections(int maxConnections) {
      this.maxConnections = maxConnections;
      return this;
    }

    /** See {@link LockTuning#subscriptionLinger()}. */
    public Builder subscriptionLinger(Duration subscriptionLinger) {
      this.subscriptionLinger = Objects.requireNonNull(subscriptionLinger, "subscriptionLinger");
      return this;
    }

    /** See {@link LockTuning#tokenRetention()}. */
    public Builder tokenRetention(Duration tokenRetention) {
      this.tokenRetention = Objects.requireNonNull(tokenRetention, "tokenRetention");
      return this;
    }

    /** See {@link LockTuning#clockDrift()}. */
    public Builder clockDrift(double clockDrift) {
      this.clockDrift = clockDrift;
      return this;
    }

    /** See {@link LockTuning#maxHandOffs()}. */
    public Builder maxHandOffs(int maxHandOffs) {
      this.maxHandOffs = maxHandOffs;
      return this;
    }

    /** See {@link LockTuning#maxHandOffTime()}. */
    public Builder maxHandOffTime(Duration maxHandOffTime) {
      this.maxHandOffTime = Objects.requireNonNull(maxHandOffTime, "maxHandOffTime");
      return this;
    }

    LockTuning build() {
      return new LockTuning(this);
    }
  }
}
