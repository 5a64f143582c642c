package io.mortise.core.spi;

/**
 * The key of a lock in Redis: a name on a server.
 *
 * @param node the server
 * @param name the name of the lock there
 */
public record LockKey(LockServer node, String name) {

  /** Returns whether both are one key in Redis, judged by the addresses. Sends nothing. */
  public boolean sharesAddress(LockKey other) {
    return name.equals(other.name) && node.address().equals(other.node.address());
  }
}
