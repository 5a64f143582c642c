package io.mortise.connection.topology;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisAskDataException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisMovedDataException;

/**
 * What a node of a cluster says instead of running a command whose keys it does not have. The
 * command has not run.
 */
sealed interface Redirection {

  /** The slot is another node's now. */
  record Moved(HostAndPort to) implements Redirection {}

  /** The slot is on its way to another node, and these keys have arrived there. */
  record Ask(HostAndPort to) implements Redirection {}

  /** The slot is on its way, and the keys are in two places: it will be over soon. */
  record TryAgain() implements Redirection {}

  /** What that answer or error of a server says; null when it is not one of these. */
  static @Nullable Redirection of(@Nullable Object answer) {
    if (answer instanceof JedisMovedDataException moved) {
      return new Moved(moved.getTargetNode());
    }
    if (answer instanceof JedisAskDataException ask) {
      return new Ask(ask.getTargetNode());
    }
    return answer instanceof JedisDataException reply && isTryAgain(reply) ? new TryAgain() : null;
  }

  /** The second is what a script gets that meets the keys of a slot half-way. */
  private static boolean isTryAgain(JedisDataException reply) {
    String message = String.valueOf(reply.getMessage());
    return message.startsWith("TRYAGAIN") || message.contains("non local key in a cluster");
  }
}
