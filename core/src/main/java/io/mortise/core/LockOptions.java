package io.mortise.core;

import java.time.Duration;
import java.util.Objects;

/**
 * The immutable options of a {@link LockClient}.
 *
 * <pre>{@code
 * LockOptions options = LockOptions.builder().lease(Duration.ofSeconds(10)).build();
 * }</pre>
 *
 * @param lease how long a hold lasts in Redis without renewal, when the caller gives no lease; it
 *     is renewed at a third of it. Longer: a crashed holder blocks the others for longer. Shorter:
 *     less time to get over a fault. Default 30 s, at least 100 ms
 * @param maxHold the time after which a hold is not renewed any more, so that a stuck holder loses
 *     it; default 365 days, in effect never
 * @param outageTimeout how long an unbounded wait ({@code lock()}) goes on while Redis cannot be
 *     used; default 10 s
 * @param commandTimeout how long one command may take; default 2 s. For a client created from the
 *     caller's {@code UnifiedJedis}, connecting follows the settings of that client
 * @param maxConnections the largest number of connections in use at a time, plus one for
 *     subscriptions; default 64. A client created from the caller's {@code UnifiedJedis} uses the
 *     pool of that client
 * @param subscriptionLinger how long a channel stays subscribed after its last waiter, because
 *     contention comes in bursts; default 5 s
 * @param tokenRetention how long Redis keeps the last fencing token of a name that is not acquired;
 *     default 10 min. After that the next token comes from the server's clock
 * @param clockDrift by how much the clocks of client and server may differ in rate: the client does
 *     not rely on a margin of this share of a lease plus 2 ms, at most half of the lease; default
 *     0.01, at most 0.5
 * @param maxHandOffs how often a hold of a {@link RedisLock} may be handed from one thread of this
 *     client to the next waiter, without a command to Redis, and how many threads may join a read
 *     hold of another thread. Then it is released in Redis, so that other clients have their turn.
 *     Default 100; 0 for never
 * @param maxHandOffTime for how long a hold may be handed on in that way; default 20 ms
 * @param acknowledgement which replicas and disks have to confirm an acquisition before it counts;
 *     default {@link Acknowledgement#NONE}
 * @param traceLeases whether a {@link Lease} records where it was acquired, for the warning about a
 *     lease that was dropped without {@code close()}; costs a stack trace for each lease. Default
 *     false
 */
public record LockOptions(
    Duration lease,
    Duration maxHold,
    Duration outageTimeout,
    Duration commandTimeout,
    int maxConnections,
    Duration subscriptionLinger,
    Duration tokenRetention,
    double clockDrift,
    int maxHandOffs,
    Duration maxHandOffTime,
    Acknowledgement acknowledgement,
    boolean traceLeases) {

  /** The longest lease and the longest wait: 365 days. A longer wait counts as this one. */
  public static final Duration MAX_LEASE = Duration.ofDays(365);

  private static final Duration MIN_DEFAULT_LEASE = Duration.ofMillis(100);
  private static final double MAX_DRIFT = 0.5;
  private static final int MAX_HAND_OFFS = 1_000_000;

  /** Checks each value and names the one that is wrong. */
  public LockOptions {
    within("lease", lease, MIN_DEFAULT_LEASE, MAX_LEASE);
    within("maxHold", maxHold, lease, MAX_LEASE);
    within("outageTimeout", outageTimeout, Duration.ZERO, MAX_LEASE);
    within("commandTimeout", commandTimeout, Duration.ofMillis(10), Duration.ofMinutes(10));
    within("subscriptionLinger", subscriptionLinger, Duration.ZERO, Duration.ofHours(1));
    within("tokenRetention", tokenRetention, Duration.ofSeconds(1), MAX_LEASE);
    if (maxHandOffs < 0 || maxHandOffs > MAX_HAND_OFFS) {
      throw new IllegalArgumentException(
          "maxHandOffs must be from 0 to %d, not %d".formatted(MAX_HAND_OFFS, maxHandOffs));
    }
    within("maxHandOffTime", maxHandOffTime, Duration.ZERO, Duration.ofMinutes(1));
    Objects.requireNonNull(acknowledgement, "acknowledgement");
    if (maxConnections < 1) {
      throw new IllegalArgumentException(
          "maxConnections must be at least 1, not " + maxConnections);
    }
    if (!(clockDrift >= 0 && clockDrift <= MAX_DRIFT)) {
      throw new IllegalArgumentException(
          "clockDrift must be from 0 to %s, not %s".formatted(MAX_DRIFT, clockDrift));
    }
  }

  /**
   * The acknowledgements that an acquisition needs before it counts: by replicas (the command
   * WAIT), or also by the disks (WAITAOF, Redis 7.2 and later). If they fall short, the acquisition
   * is undone, and the attempt fails with {@link LockException.Reason#NOT_REPLICATED}; a wait goes
   * on and tries again.
   *
   * <p>It costs a round trip to the replicas, or an fsync, for each acquisition; re-entries and
   * renewals do not wait for them. It makes the loss of a hold by a failover less likely, not
   * impossible: a replica that has not acknowledged may be the one that is promoted. Only the token
   * protects the data then.
   *
   * @param replicas the number of replicas that have to acknowledge it; in a cluster, replicas of
   *     the slot's master
   * @param onDisk whether it has to be in the append-only files of the master and of that number of
   *     replicas
   * @param within how long to wait for that; at least 1 ms, and at most half of the time that the
   *     command has left
   */
  public record Acknowledgement(int replicas, boolean onDisk, Duration within) {
    /** None: an acquisition counts when the master has answered. */
    public static final Acknowledgement NONE =
        new Acknowledgement(0, false, Duration.ofMillis(500));

    /** Checks the values. */
    public Acknowledgement {
      if (replicas < 0) {
        throw new IllegalArgumentException("replicas must not be negative, as " + replicas + " is");
      }
      LockOptions.within("within", within, Duration.ofMillis(1), Duration.ofMinutes(1));
    }

    /** Returns an acknowledgement by that number of replicas, within 500 ms. */
    public static Acknowledgement ofReplicas(int replicas) {
      return new Acknowledgement(replicas, false, NONE.within);
    }

    /** Returns this acknowledgement, also by the disks of the master and of those replicas. */
    public Acknowledgement onDisks() {
      return new Acknowledgement(replicas, true, within);
    }

    /** Returns this acknowledgement, within that time. */
    public Acknowledgement within(Duration time) {
      return new Acknowledgement(replicas, onDisk, time);
    }

    /** Returns whether an acquisition waits for any acknowledgement. */
    public boolean isWanted() {
      return replicas > 0 || onDisk;
    }
  }

  /** Returns the default options. */
  public static LockOptions defaults() {
    return builder().build();
  }

  /** Returns a builder that starts from the defaults. */
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

  /**
   * Builds options; those that are not set keep their default.
   *
   * <p><b>Threads.</b> Not safe for use by several threads.
   */
  public static final class Builder {
    private Duration lease = Duration.ofSeconds(30);
    private Duration maxHold = MAX_LEASE;
    private Duration outageTimeout = Duration.ofSeconds(10);
    private Duration commandTimeout = Duration.ofSeconds(2);
    private int maxConnections = 64;
    private Duration subscriptionLinger = Duration.ofSeconds(5);
    private Duration tokenRetention = Duration.ofMinutes(10);
    private double clockDrift = 0.01;
    private int maxHandOffs = 100;
    private Duration maxHandOffTime = Duration.ofMillis(20);
    private Acknowledgement acknowledgement = Acknowledgement.NONE;
    private boolean traceLeases;

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

    /** See {@link LockOptions#outageTimeout()}. */
    public Builder outageTimeout(Duration outageTimeout) {
      this.outageTimeout = outageTimeout;
      return this;
    }

    /** See {@link LockOptions#commandTimeout()}. */
    public Builder commandTimeout(Duration commandTimeout) {
      this.commandTimeout = commandTimeout;
      return this;
    }

    /** See {@link LockOptions#maxConnections()}. */
    public Builder maxConnections(int maxConnections) {
      this.maxConnections = maxConnections;
      return this;
    }

    /** See {@link LockOptions#subscriptionLinger()}. */
    public Builder subscriptionLinger(Duration subscriptionLinger) {
      this.subscriptionLinger = subscriptionLinger;
      return this;
    }

    /** See {@link LockOptions#tokenRetention()}. */
    public Builder tokenRetention(Duration tokenRetention) {
      this.tokenRetention = tokenRetention;
      return this;
    }

    /** See {@link LockOptions#clockDrift()}. */
    public Builder clockDrift(double clockDrift) {
      this.clockDrift = clockDrift;
      return this;
    }

    /** See {@link LockOptions#maxHandOffs()}. */
    public Builder maxHandOffs(int maxHandOffs) {
      this.maxHandOffs = maxHandOffs;
      return this;
    }

    /** See {@link LockOptions#maxHandOffTime()}. */
    public Builder maxHandOffTime(Duration maxHandOffTime) {
      this.maxHandOffTime = maxHandOffTime;
      return this;
    }

    /** See {@link LockOptions#acknowledgement()}. */
    public Builder acknowledgement(Acknowledgement acknowledgement) {
      this.acknowledgement = acknowledgement;
      return this;
    }

    /** See {@link LockOptions#traceLeases()}. */
    public Builder traceLeases(boolean traceLeases) {
      this.traceLeases = traceLeases;
      return this;
    }

    /**
     * Returns the options.
     *
     * @throws IllegalArgumentException if a value is out of its range
     */
    public LockOptions build() {
      return new LockOptions(
          lease,
          maxHold,
          outageTimeout,
          commandTimeout,
          maxConnections,
          subscriptionLinger,
          tokenRetention,
          clockDrift,
          maxHandOffs,
          maxHandOffTime,
          acknowledgement,
          traceLeases);
    }
  }
}
