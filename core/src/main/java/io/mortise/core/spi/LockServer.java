package io.mortise.core.spi;

import java.util.Optional;

/**
 * The Redis deployment behind one client: what has to fail for its locks to fail. Two clients of
 * one deployment have two of these.
 */
public interface LockServer {

  /** Host and port, for messages, and for an order that other processes share. */
  String address();

  /**
   * What tells the server from all others, whatever the address under which it is reached. Asks it
   * once, then remembers.
   *
   * @return empty when the server does not say, or cannot be reached
   */
  Optional<String> serverId();

  /** Whether both are one deployment, as far as they tell. Asks, if they have not been asked. */
  default boolean isSame(LockServer other) {
    return address().equals(other.address())
        || (serverId().isPresent() && serverId().equals(other.serverId()));
  }
}
