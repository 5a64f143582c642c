package io.mortise.connection.pool;

import java.time.Duration;

/**
 * The settings of a client's connections.
 *
 * @param maxConnections the most to use at a time, of one server
 * @param commandTimeout how long one command may take, and connecting
 * @param durability what has to be safe before an attempt counts
 */
public record ConnectionSettings(
    int maxConnections, Duration commandTimeout, Durability durability) {

  /** Without acknowledgements. */
  public ConnectionSettings(int maxConnections, Duration commandTimeout) {
    this(maxConnections, commandTimeout, Durability.NONE);
  }

  /**
   * How safe a write has to be.
   *
   * @param replicas how many replicas have to acknowledge it
   * @param onDisk whether it has to be in the append-only files of the master and of so many
   *     replicas
   * @param within how long to wait for that
   */
  public record Durability(int replicas, boolean onDisk, Duration within) {
    /** It counts when the master has answered. */
    static final Durability NONE = new Durability(0, false, Duration.ofMillis(500));

    /** Whether anything is waited for. */
    public boolean isWanted() {
      return replicas > 0 || onDisk;
    }
  }
}
