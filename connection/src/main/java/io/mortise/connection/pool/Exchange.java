package io.mortise.connection.pool;

import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;

/** One or more commands on a connection, and their answer. */
@FunctionalInterface
public interface Exchange {
  /** Sends the commands and returns the answer. */
  Object on(Connection connection, long deadlineNanos);

  /**
   * Returns the same exchange behind ASKING, for a node that is importing the slot. ASKING counts
   * for one command.
   */
  default Exchange asking() {
    return (connection, deadlineNanos) -> {
      connection.executeCommand(new CommandArguments(Command.ASKING));
      return on(connection, deadlineNanos);
    };
  }
}
