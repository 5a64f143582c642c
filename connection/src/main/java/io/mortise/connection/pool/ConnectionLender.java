package io.mortise.connection.pool;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ConnectionPool.PooledConnection;
import java.util.function.Supplier;
import redis.clients.jedis.Connection;

/**
 * Lends the connections to one server. Turns what fails on them into a {@link CommandException},
 * and keeps the connections that the failure has shown to be of no use from being lent again.
 *
 * <p><b>Threads.</b> Any thread may call every method. A connection belongs to its borrower.
 */
public class ConnectionLender implements AutoCloseable {
  private final String address;
  private final ConnectionPool connections;
  private final PlatformThreadOffload offload = new PlatformThreadOffload();

  public ConnectionLender(String address, ConnectionPool connections) {
    this.address = address;
    this.connections = connections;
  }

  /**
   * Borrows a connection; waits for one until the deadline. A new connection that the server closes
   * while it is being made is made once more: the server may have restarted at that moment, and no
   * command was sent. The second one has half of the time that is left, so that there is time for
   * another node of a cluster, and is made if the first has not taken longer than that, together
   * with the wait for it. A Jedis client does not know the deadline; its own settings limit each of
   * the two. If the second is not made either, the first failure is thrown, unless that of the
   * second is a reply or one that lasts.
   */
  public PooledConnection borrow(Deadline deadline) throws CommandException {
    long before = deadline.leftNanos();
    try {
      return borrowOnce(deadline);
    } catch (CommandException closed) {
      long left = deadline.leftNanos();
      if (!ErrorClassifier.hasClosed(closed) || before - left > left / 2) {
        throw closed;
      }
      return borrowAgain(deadline.within(left / 2), closed);
    }
  }

  private PooledConnection borrowAgain(Deadline deadline, CommandException closed)
      throws CommandException {
    try {
      return borrowOnce(deadline);
    } catch (CommandException again) {
      if (again.isServerReply() || !again.kind().isTransient()) {
        throw again;
      }
      closed.addSuppressed(again);
      throw closed;
    }
  }

  /** Borrows a connection; waits for one until the deadline. */
  public PooledConnection borrowOnce(Deadline deadline) throws CommandException {
    try {
      return connections.borrow(deadline);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandException(
          Kind.POOL_EXHAUSTED, false, "interrupted while all connections were in use", e);
    } catch (RuntimeException e) {
      if (connections.isClosed()) {
        throw new CommandException(
            Kind.CLIENT_CLOSED, false, "the client for " + address + " was closed", e);
      }
      throw ErrorClassifier.ofConnecting(e, address);
    }
  }

  /** Returns how many connections can be borrowed at a time. */
  public int maxConnections() {
    return connections.maxConnections();
  }

  /** Returns a new connection that nobody else gets; see {@link ConnectionPool#connect}. */
  public Connection connect(Deadline deadline) throws CommandException {
    try {
      return connections.connect(deadline);
    } catch (RuntimeException e) {
      throw ErrorClassifier.ofConnecting(e, address);
    }
  }

  /**
   * Runs an exchange on this thread, or on one that may use the socket. If it is long, the
   * connection is closed at the deadline; see {@link PlatformThreadOffload}.
   *
   * @param bytes the approximate length of what it writes
   */
  public <T> T onThread(Connection connection, int bytes, Deadline deadline, Supplier<T> exchange) {
    return offload.run(connection, bytes, deadline, exchange);
  }

  /**
   * Classifies an exception on that connection, and does what it demands of the other ones.
   *
   * @param sent whether the command had been sent, so that it may have run
   */
  public CommandException fault(RuntimeException thrown, PooledConnection pooled, boolean sent) {
    CommandException fault =
        ErrorClassifier.of(thrown, address, sent)
            .onServer(RedisConnection.serverRunIdOf(pooled.connection()));
    if (fault.isTimeOut()) {
      pooled.timedOut();
    }
    if (fault.hasLostConnection() || fault.kind() == Kind.READ_ONLY) {
      pooled.endGeneration();
    }
    return fault;
  }

  @Override
  public void close() {
    offload.close();
    connections.close();
  }

  /** Returns the server's address, for names and messages. */
  @Override
  public String toString() {
    return address;
  }
}
