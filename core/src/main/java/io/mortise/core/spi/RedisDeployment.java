package io.mortise.core.spi;

import java.util.Optional;

/**
 * The Redis deployment of one client, which fails as a whole. Two clients of one deployment have
 * two of these.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
public interface RedisDeployment {

  /**
   * Returns host and port, for messages and for an order that all processes share. A client on a
   * Jedis client of the user has another name instead, which is different in each process.
   */
  String address();

  /**
   * Returns the id of the server, whatever the address under which it is reached. Asks the server
   * until it has answered, and keeps the answer.
   *
   * @param withinNanos how long to wait for the answer, but never longer than the command timeout
   *     of the client; 0 asks nobody
   * @return empty when the server reports none, or does not answer in that time
   */
  Optional<String> serverId(long withinNanos);

  /** The same, within the command timeout of the client. */
  default Optional<String> serverId() {
    return serverId(Long.MAX_VALUE);
  }

  /** Returns whether both are one deployment, by address or id. Asks for unknown ids. */
  default boolean isSame(RedisDeployment other) {
    return address().equals(other.address())
        || (serverId().isPresent() && serverId().equals(other.serverId()));
  }
}
