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
   * Returns the approximate length of what is written before an answer is read, if that may exceed
   * the {@link SocketBuffers}.
   */
  default int bytes() {
    return 0;
  }

  /** Returns the exchange behind ASKING, which counts for one command, for an importing node. */
  default Exchange asking() {
    return new BehindAsking(this);
  }

  /**
   * An exchange behind ASKING.
   *
   * <p><b>Threads.</b> As the exchange.
   */
  record BehindAsking(Exchange exchange) implements Exchange {
    @Override
    public int bytes() {
      return exchange.bytes();
    }

    @Override
    public Object on(Connection connection, Deadline deadline) {
      connection.executeCommand(new CommandArguments(Command.ASKING));
      return exchange.on(connection, deadline);
    }
  }
}
