package io.mortise.connection.topology;

import io.mortise.connection.pipeline.CombinableExchange;
import io.mortise.connection.pipeline.CommandCombiner;
import io.mortise.connection.pipeline.PipelineBatch;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ConnectionPool;
import io.mortise.connection.pool.Deadlines;
import io.mortise.connection.pool.ErrorClassifier;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.pool.PlatformThreadOffload;
import io.mortise.connection.pool.RedisConnection;
import io.mortise.connection.pool.Reply;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * One server. Commands run on borrowed connections, so that each has its own time limit and runs
 * exactly as often as the engine says: Jedis' own repetition is not involved.
 */
final class RedisNode
    implements Topology.SubscriptionEndpoint, PipelineBatch.Lender, AutoCloseable {
  private final String address;
  private final ConnectionPool connections;
  private final PlatformThreadOffload carriers = new PlatformThreadOffload();
  private final CommandCombiner trips;
  private Runnable broken = () -> {};

  RedisNode(String address, ConnectionPool connections) {
    this.address = address;
    this.connections = connections;
    this.trips = PipelineBatch.to(this);
  }

  /**
   * Runs one exchange, within the time given, on a borrowed connection.
   *
   * <p>A connection that breaks without a time-out was most likely dead before: the server
   * restarted, or closed it for being idle. All that lie idle are then suspect and are dropped, and
   * the exchange is tried once more on a new one. Nearly all that the engine sends is safe to
   * repeat; for the rest there is {@link #exchangeAtMostOnce}. When many threads are at it, the
   * first try may share a connection, see {@link CommandCombiner}; the second never does.
   *
   * <p>The interrupt status is put aside meanwhile, and stands again when this returns; whoever
   * waits looks at it then. An interrupt that comes in between may end the wait for a connection,
   * and, on a virtual thread, connecting; then too the exchange is tried again, while there is
   * time. It does not end a command: see {@link PlatformThreadOffload}.
   */
  Reply exchange(Exchange exchange, long timeoutNanos) throws CommandException {
    long deadlineNanos = System.nanoTime() + timeoutNanos;
    Try first =
        exchange instanceof CombinableExchange script && script.isCombinable()
            ? () -> PipelineBatch.run(trips, script, deadlineNanos)
            : () -> once(exchange, deadlineNanos, true);
    return exchange(first, exchange, deadlineNanos, true);
  }

  /**
   * As {@link #exchange}, for what must not run twice: once it may have reached the server it is
   * not sent again. That its connection is dead is found out before, by a PING, so that a server
   * which has restarted meanwhile is no fault here either.
   */
  Reply exchangeAtMostOnce(Exchange exchange, long timeoutNanos) throws CommandException {
    long deadlineNanos = System.nanoTime() + timeoutNanos;
    return exchange(() -> once(exchange, deadlineNanos, false), exchange, deadlineNanos, false);
  }

  private Reply exchange(Try first, Exchange exchange, long deadlineNanos, boolean repeatable)
      throws CommandException {
    Try next = first;
    boolean interrupted = Thread.interrupted();
    CommandException before = null;
    boolean repeated = false;
    try {
      while (true) {
        try {
          return next.run().after(before);
        } catch (CommandException fault) {
          before = before == null && fault.mayHaveExecuted() ? fault : before;
          if (fault.kind() == Kind.UNREACHABLE || fault.kind() == Kind.READ_ONLY) {
            connections.suspectFailover();
          }
          if (fault.kind() == Kind.READ_ONLY) {
            connections.dropIdle(); // a master that was replaced; the next one is connected to anew
          }
          boolean byInterrupt = Thread.interrupted();
          interrupted |= byInterrupt;
          boolean stale =
              !repeated && fault.isBrokenConnection() && fault.mayHaveExecuted() == repeatable;
          boolean again = (stale || byInterrupt) && (repeatable || before == null);
          if (!again || deadlineNanos - System.nanoTime() <= 0) {
            throw before != null ? fault.afterEarlier(before) : fault;
          }
          if (!byInterrupt) {
            repeated = true;
            connectionBroke();
          }
          next = () -> once(exchange, deadlineNanos, repeatable);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** All that lie idle are suspect, and so is what was said to the server before. */
  private void connectionBroke() {
    connections.dropIdle();
    broken.run();
  }

  /** What to do when a connection broke; to be set before the first use. */
  void onConnectionLost(Runnable action) {
    broken = action;
  }

  private Reply once(Exchange exchange, long deadlineNanos, boolean repeatable)
      throws CommandException {
    ConnectionPool.PooledConnection loan = borrow(deadlineNanos);
    boolean reusable = false;
    boolean sent = false;
    try {
      Connection connection = loan.connection();
      try {
        int before = connection.getSoTimeout();
        connection.setSoTimeout(Deadlines.millisUntil(deadlineNanos));
        Object reply;
        try {
          if (!repeatable) {
            onThread(RedisNode::probe, connection, deadlineNanos);
          }
          sent = true;
          reply = onThread(exchange, connection, deadlineNanos);
        } finally {
          if (!connection.isBroken()) {
            connection.setSoTimeout(before);
          }
        }
        reusable = !connection.isBroken();
        return new Reply(reply, null, RedisConnection.serverRunIdOf(connection));
      } catch (JedisDataException e) {
        reusable = !connection.isBroken();
        throw ErrorClassifier.of(e, address, sent)
            .onServer(RedisConnection.serverRunIdOf(connection));
      } catch (RuntimeException e) {
        throw ErrorClassifier.of(e, address, sent)
            .onServer(RedisConnection.serverRunIdOf(connection));
      }
    } finally {
      loan.giveBack(reusable);
    }
  }

  private Object onThread(Exchange exchange, Connection connection, long deadlineNanos) {
    return onThread(() -> exchange.on(connection, deadlineNanos));
  }

  @Override
  public <T> T onThread(Supplier<T> talk) {
    return PlatformThreadOffload.isRequired() ? carriers.run(talk) : talk.get();
  }

  @Override
  public CommandException fault(RuntimeException thrown, Connection connection) {
    return ErrorClassifier.of(thrown, address, true)
        .onServer(RedisConnection.serverRunIdOf(connection));
  }

  /** Throws if the connection is dead. Any answer shows that it is not, a refusal too. */
  private static Object probe(Connection connection, long deadlineNanos) {
    try {
      return connection.ping();
    } catch (JedisDataException refused) {
      return false;
    }
  }

  @Override
  public ConnectionPool.PooledConnection borrow(long deadlineNanos) throws CommandException {
    try {
      return connections.borrow(deadlineNanos);
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

  @Override
  public Connection connect() throws CommandException {
    try {
      return connections.connect();
    } catch (RuntimeException e) {
      throw ErrorClassifier.ofConnecting(e, address);
    }
  }

  /** Whether a failover may put another server in the place of this one. */
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

  int connectionsInUse() {
    return connections.inUse();
  }

  @Override
  public void close() {
    carriers.close();
    connections.close();
  }

  @Override
  public String toString() {
    return address;
  }

  /** One try of an exchange. */
  @FunctionalInterface
  private interface Try {
    Reply run() throws CommandException;
  }
}
