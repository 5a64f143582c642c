package io.mortise.core;

import java.time.Duration;
import java.util.Objects;

/**
 * The acknowledgements that an acquisition needs before it counts: by replicas (the command WAIT),
 * or also by the disks (WAITAOF, Redis 7.2 and later). If they fall short, the acquisition is
 * undone, and the attempt fails with {@link LockException.Reason#NOT_REPLICATED}; a wait goes on
 * and tries again.
 *
 * <p>It costs a round trip to the replicas, or an fsync, for each acquisition; re-entries and
 * renewals do not wait for them. It makes the loss of a hold by a failover less likely, not
 * impossible: a replica that has not acknowledged may be the one that is promoted. Only the token
 * protects the data then.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
public final class Acknowledgement {
  private static final Duration DEFAULT_WITHIN = Duration.ofMillis(500);

  /** None: an acquisition counts when the master has answered. */
  public static final Acknowledgement NONE = new Acknowledgement(0, false, DEFAULT_WITHIN);

  private final int replicas;
  private final boolean onDisk;
  private final Duration within;

  private Acknowledgement(int replicas, boolean onDisk, Duration within) {
    if (replicas < 0) {
      throw new IllegalArgumentException("replicas must not be negative, as " + replicas + " is");
    }
    Durations.checkWithin("within", within, Duration.ofMillis(1), Duration.ofMinutes(1));
    this.replicas = replicas;
    this.onDisk = onDisk;
    this.within = within;
  }

  /** Returns an acknowledgement by that number of replicas, within 500 ms. */
  public static Acknowledgement ofReplicas(int replicas) {
    return new Acknowledgement(replicas, false, DEFAULT_WITHIN);
  }

  /** Returns this acknowledgement, also by the disks of the master and of those replicas. */
  public Acknowledgement onDisks() {
    return new Acknowledgement(replicas, true, within);
  }

  /**
   * Returns this acknowledgement, within that time.
   *
   * @param within at least 1 ms, at most 1 min; the wait takes at most half of the time that the
   *     command has left
   */
  public Acknowledgement within(Duration within) {
    return new Acknowledgement(replicas, onDisk, within);
  }

  /**
   * Returns the number of replicas that have to acknowledge an acquisition; in a cluster, replicas
   * of the slot's master.
   */
  public int replicas() {
    return replicas;
  }

  /**
   * Returns whether an acquisition has to be in the append-only files of the master and of that
   * number of replicas.
   */
  public boolean onDisk() {
    return onDisk;
  }

  /** Returns how long to wait for the acknowledgements. */
  public Duration within() {
    return within;
  }

  /** Returns whether an acquisition waits for any acknowledgement. */
  public boolean isWanted() {
    return replicas > 0 || onDisk;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Acknowledgement that
        && replicas == that.replicas
        && onDisk == that.onDisk
        && within.equals(that.within);
  }

  @Override
  public int hashCode() {
    return Objects.hash(replicas, onDisk, within);
  }

  @Override
  public String toString() {
    return "%d replicas%s within %s".formatted(replicas, onDisk ? " and the disks" : "", within);
  }
}
