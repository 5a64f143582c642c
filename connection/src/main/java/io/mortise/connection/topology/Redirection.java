package io.mortise.connection.topology;

import io.mortise.connection.pool.ErrorReplies;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisAskDataException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisMovedDataException;

/**
 * The answer of a cluster node that does not have the keys of a command. The command has not run.
 */
sealed interface Redirection {

  /** The slot belongs to another node now. */
  record Moved(HostAndPort to) implements Redirection {}

  /** The slot is moving to another node, and these keys have arrived there. */
  record Ask(HostAndPort to) implements Redirection {}

  /** The slot is moving, and the keys are on two nodes, for a short time. */
  record TryAgain() implements Redirection {}

  /** Returns the redirection in an answer or error of a server; null when there is none. */
  static @Nullable Redirection of(@Nullable Object answer) {
    if (answer instanceof JedisMovedDataException moved) {
      return new Moved(moved.getTargetNode());
    }
    if (answer instanceof JedisAskDataException ask) {
      return new Ask(ask.getTargetNode());
    }
    return answer instanceof JedisDataException reply && isTryAgain(reply) ? new TryAgain() : null;
  }

  private static boolean isTryAgain(JedisDataException reply) {
    String message = String.valueOf(reply.getMessage());
    return message.startsWith("TRYAGAIN") || ErrorReplies.isMovingKey(message);
  }
}
