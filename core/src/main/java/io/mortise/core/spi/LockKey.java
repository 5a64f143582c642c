package io.mortise.core.spi;

/**
 * What stands in Redis for a lock: a name on a server.
 *
 * @param node the server
 * @param name the name of the lock there
 */
public record LockKey(LockServer node, String name) {

  /** Whether both are one key in Redis, as far as the addresses tell. */
  public boolean sharesAddress(LockKey other) {
    return name.equals(other.name) && node.address().equals(other.node.address());
  }

  /**
   * Whether both are one key in Redis, as far as the servers tell. Asks, if the names are equal.
   */
  public boolean isSame(LockKey other) {
    return name.equals(other.name) && node.isSame(other.node);
  }
}
