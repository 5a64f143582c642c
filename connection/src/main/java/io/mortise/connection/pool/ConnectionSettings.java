package io.mortise.connection.pool;

import java.time.Duration;

/**
 * The settings of a client's connections.
 *
 * @param maxConnections the maximum number of connections in use at a time, to one server
 * @param commandTimeout the limit for one command, and for connecting
 * @param durability how safe a write has to be before an attempt counts
 */
public record ConnectionSettings(
    int maxConnections, Duration commandTimeout, Durability durability) {

  /** Settings without acknowledgements. */
  public ConnectionSettings(int maxConnections, Duration commandTimeout) {
    this(maxConnections, commandTimeout, Durability.NONE);
  }

  /**
   * The acknowledgements that a write needs.
   *
   * @param replicas how many replicas have to acknowledge it
   * @param onDisk whether it has to be in the append-only files of the master and of that many
   *     replicas
   * @param within how long to wait for the acknowledgements
   */
  public record Durability(int replicas, boolean onDisk, Duration within) {
    /** A write counts when the master has answered. */
    static final Durability NONE = new Durability(0, false, Duration.ofMillis(500));

    /** Returns whether a write has to wait for any acknowledgement. */
    public boolean isWanted() {
      return replicas > 0 || onDisk;
    }
  }
}
