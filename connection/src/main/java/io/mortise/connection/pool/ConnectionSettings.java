package io.mortise.connection.pool;

import com.google.common.base.Ticker;
import java.time.Duration;

/**
 * The settings of a client's connections.
 *
 * @param maxConnections the maximum number of connections in use at a time, to one server
 * @param commandTimeout the limit for one command, and for connecting
 * @param durability how safe a write has to be before an attempt counts
 * @param ticker the one clock of the client; all its deadlines and moments are by this clock
 */
public record ConnectionSettings(
    int maxConnections, Duration commandTimeout, Durability durability, Ticker ticker) {

  /**
   * The acknowledgements that a write needs.
   *
   * @param replicas how many replicas have to acknowledge it
   * @param onDisk whether it has to be in the append-only files of the master and of that many
   *     replicas
   * @param within how long to wait for the acknowledgements
   */
  public record Durability(int replicas, boolean onDisk, Duration within) {
    /** Returns whether a write has to wait for any acknowledgement. */
    public boolean isWanted() {
      return replicas > 0 || onDisk;
    }
  }
}
