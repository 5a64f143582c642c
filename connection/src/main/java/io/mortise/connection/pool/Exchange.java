package io.mortise.connection.pool;

import io.mortise.connection.concurrent.Deadline;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;

/**
 * One or more commands on a connection, and their answer.
 *
 * <p><b>Threads.</b> The thread that uses the connection runs it, which is not always the thread
 * that made it.
 */
@FunctionalInterface
public interface Exchange {
  /** Sends the commands and returns the answer. */
  Object on(Connection connection, Deadline deadline);

  /**
   * Returns the same exchange behind ASKING, for a node that is importing the slot. ASKING counts
   * for one command.
   */
  default Exchange asking() {
    return (connection, deadline) -> {
      connection.executeCommand(new CommandArguments(Command.ASKING));
      return on(connection, deadline);
    };
  }
}
