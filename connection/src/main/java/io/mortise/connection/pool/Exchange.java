package io.mortise.connection.pool;

import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;

/** What is said on a connection, and what comes back. */
@FunctionalInterface
public interface Exchange {
  /** Says it, and returns the answer. */
  Object on(Connection connection, long deadlineNanos);

  /**
   * The same for a node that has the slot only for those who say ASKING, which counts for one
   * command.
   */
  default Exchange asking() {
    return (connection, deadlineNanos) -> {
      connection.executeCommand(new CommandArguments(Command.ASKING));
      return on(connection, deadlineNanos);
    };
  }
}
