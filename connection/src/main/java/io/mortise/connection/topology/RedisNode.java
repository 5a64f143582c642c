package io.mortise.connection.topology;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pipeline.CombinableExchange;
import io.mortise.connection.pipeline.CommandCombiner;
import io.mortise.connection.pipeline.PipelineTransport;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ConnectionLender;
import io.mortise.connection.pool.ConnectionPool;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.pool.RedisConnection;
import io.mortise.connection.pool.Reply;
import java.util.function.BiConsumer;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * One server. Commands run on borrowed connections, so that each has its own time limit and is sent
 * exactly as often as this class decides: the repetition of Jedis is not involved.
 *
 * <p><b>Threads.</b> Any thread may call every method but {@code checkForFailover}, which the
 * scheduler's thread calls; actions are set before the first use. Each attempt has a connection of
 * its own, or a share in a batch of the {@link CommandCombiner}.
 */
final class RedisNode implements Topology.Server, AutoCloseable {
  private final String address;
  private final ConnectionPool connections;
  private final ConnectionLender lender;
  private final CommandCombiner combiner;
  private Runnable connectionLostAction = () -> {};
  private Runnable refusedWriteAction = () -> connectionLostAction.run();

  private NodeReachability reachability;
  private final WriteRefusals writeRefusals = new WriteRefusals();

  RedisNode(String address, ConnectionPool connections) {
    this.address = address;
    this.connections = connections;
    this.lender = new ConnectionLender(address, connections);
    this.combiner = PipelineTransport.to(lender);
    this.reachability = new NodeReachability(address, (server, fault) -> {});
  }

  /**
   * Runs one exchange, until the deadline, on a borrowed connection.
   *
   * <p>A connection that breaks without a time-out was most likely dead before: the server
   * restarted, or closed it because it was idle. All idle connections are then suspect and are
   * dropped, and the exchange is tried once more on a new connection. Nearly all exchanges are safe
   * to repeat; for the others there is {@link #exchangeAtMostOnce}. When many threads send
   * commands, the first attempt may share a connection, see {@link CommandCombiner}; the second
   * never does.
   *
   * <p>The interrupt status is cleared during the exchange and restored when this returns; a waiter
   * checks it then. An interrupt during the exchange may end the wait for a connection, and, on a
   * virtual thread, connecting; then too the exchange is tried again, while there is time. An
   * interrupt does not end a command: see {@link ConnectionLender#onThread}.
   */
  @Override
  public Reply exchange(Exchange exchange, Deadline deadline) throws CommandException {
    Attempt first =
        exchange instanceof CombinableExchange script && script.isCombinable()
            ? () -> PipelineTransport.run(combiner, script, deadline)
            : () -> exchangeOnBorrowed(exchange, deadline, true);
    return exchange(first, exchange, deadline, true);
  }

  /**
   * Runs an exchange that must not run twice, otherwise like {@link #exchange}: once it may have
   * reached the server it is not sent again. A PING before it finds a dead connection. A connection
   * that breaks, or is refused, before the exchange is sent is made once more, so that a restart of
   * the server since the last command is no failure here either.
   */
  Reply exchangeAtMostOnce(Exchange exchange, Deadline deadline) throws CommandException {
    return exchange(() -> exchangeOnBorrowed(exchange, deadline, false), exchange, deadline, false);
  }

  private Reply exchange(Attempt first, Exchange exchange, Deadline deadline, boolean repeatable)
      throws CommandException {
    try {
      Reply reply = exchangeRepeatedly(first, exchange, deadline, repeatable);
      reachability.answered();
      writeRefusals.answered(deadline.ticker(), refusedWriteAction);
      return reply;
    } catch (CommandException fault) {
      reachability.failed(fault);
      if (fault.kind() == Kind.READ_ONLY) {
        writeRefusals.refused(deadline.ticker(), refusedWriteAction);
      }
      throw fault;
    }
  }

  private Reply exchangeRepeatedly(
      Attempt first, Exchange exchange, Deadline deadline, boolean repeatable)
      throws CommandException {
    Attempt next = first;
    boolean interrupted = Thread.interrupted();
    CommandException before = null;
    boolean repeated = false;
    try {
      while (true) {
        try {
          return next.run().after(before);
        } catch (CommandException fault) {
          CommandException all = fault.afterEarlier(before);
          if (fault.kind() == Kind.UNREACHABLE || fault.kind() == Kind.READ_ONLY) {
            connections.suspectFailover();
          }
          boolean byInterrupt = Thread.interrupted();
          interrupted |= byInterrupt;
          boolean lost = fault.hasLostConnection() && (fault.mayHaveExecuted() || !repeatable);
          if (lost) { // whether or not the exchange is repeated
            connectionLostAction.run();
          }
          boolean stale = lost && !repeated && fault.mayHaveExecuted() == repeatable;
          boolean maySendAgain =
              (stale || byInterrupt)
                  && (repeatable || !all.mayHaveExecuted())
                  && !fault.isUndoUnanswered();
          if (!maySendAgain || deadline.hasPassed()) {
            throw all;
          }
          before = all.mayHaveExecuted() ? all : null;
          repeated |= !byInterrupt;
          next = () -> exchangeOnBorrowed(exchange, deadline, repeatable);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Sets the action for a broken connection; called before the first use. */
  void onConnectionLost(Runnable action) {
    connectionLostAction = action;
  }

  /** Sets the action for a server that refuses to write; called before the first use. */
  void onRefusedWrite(Runnable action) {
    refusedWriteAction = action;
  }

  /** Sets the observer of the reachability; called before the first use. */
  void onReachabilityChange(Topology.ReachabilityObserver observer) {
    reachability = new NodeReachability(address, observer);
  }

  private Reply exchangeOnBorrowed(Exchange exchange, Deadline deadline, boolean repeatable)
      throws CommandException {
    ConnectionPool.PooledConnection pooled =
        repeatable ? lender.borrow(deadline) : lender.borrowOnce(deadline);
    boolean reusable = false;
    boolean sent = false;
    try {
      Connection connection = pooled.connection();
      try {
        int before = connection.getSoTimeout();
        connection.setSoTimeout(deadline.leftMillis());
        Object reply;
        try {
          if (!repeatable) {
            lender.onThread(connection, 0, deadline, () -> probe(connection));
            connection.setSoTimeout(deadline.leftMillis());
          }
          sent = true;
          reply =
              lender.onThread(
                  connection, exchange.bytes(), deadline, () -> exchange.on(connection, deadline));
        } finally {
          if (!connection.isBroken()) {
            connection.setSoTimeout(before);
          }
        }
        reusable = !connection.isBroken();
        return new Reply(reply, null, RedisConnection.serverRunIdOf(connection));
      } catch (JedisDataException e) {
        reusable = !connection.isBroken();
        throw lender.fault(e, pooled, sent);
      } catch (RuntimeException e) {
        throw lender.fault(e, pooled, sent);
      }
    } finally {
      boolean returned = false;
      try {
        pooled.giveBack(reusable);
        returned = true;
      } finally {
        pooled.abandoned = !returned;
      }
    }
  }

  /** Throws if the connection is dead. Any answer proves that it is not, a refusal too. */
  private static boolean probe(Connection connection) {
    try {
      return connection.ping();
    } catch (JedisDataException refused) {
      return false;
    }
  }

  @Override
  public Connection connect(Deadline deadline) throws CommandException {
    return lender.connect(deadline);
  }

  /** See {@link ConnectionPool#canFailOver}. */
  boolean canFailOver() {
    return connections.canFailOver();
  }

  /** See {@link ConnectionPool#onChange}. */
  void onChange(BiConsumer<Object, Object> action) {
    connections.onChange(action);
  }

  /** See {@link ConnectionPool#checkForFailover}. */
  void checkForFailover(boolean inUse) {
    connections.checkForFailover(inUse);
  }

  /** Returns whether the last command had no reply. */
  boolean isUnreachable() {
    return reachability.isUnreachable();
  }

  int connectionsInUse() {
    return connections.inUse();
  }

  @Override
  public void close() {
    lender.close();
  }

  @Override
  public String toString() {
    return address;
  }

  /** One attempt of an exchange. */
  @FunctionalInterface
  private interface Attempt {
    Reply run() throws CommandException;
  }
}
