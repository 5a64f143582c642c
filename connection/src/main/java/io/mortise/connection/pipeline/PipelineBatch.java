package io.mortise.connection.pipeline;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ConnectionPool.PooledConnection;
import io.mortise.connection.pool.Deadlines;
import io.mortise.connection.pool.RedisConnection;
import io.mortise.connection.pool.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * Scripts on one connection: all are sent, then the answers are read in the same order.
 *
 * <p>The connection belongs to the one on the trip until it is given back. What breaks it, a
 * time-out too, is a fault for all whose answers have not been read; an error that is the answer to
 * one is that one's. Nobody is aboard before there is a connection.
 */
public final class PipelineBatch implements CommandCombiner.BatchTransport {
  private final Lender node;

  /** The server, for those who go to it. */
  public interface Lender {
    /** Lends a connection until the deadline. */
    PooledConnection borrow(long deadlineNanos) throws CommandException;

    /** On this thread, or on one that may use a socket. */
    <T> T onThread(Supplier<T> talk);

    /** What an exception on that connection means; what was sent may have run. */
    CommandException fault(RuntimeException thrown, Connection connection);
  }

  private PipelineBatch(Lender node) {
    this.node = node;
  }

  /** Those to that server. */
  public static CommandCombiner to(Lender node) {
    return to(node, CombinerLimits.USUAL);
  }

  public static CommandCombiner to(Lender node, CombinerLimits limits) {
    return new CommandCombiner(node.toString(), limits, new PipelineBatch(node));
  }

  /** Runs a script: by its name, and by its text when the server does not know it. */
  public static Reply run(CommandCombiner trips, CombinableExchange script, long deadlineNanos)
      throws CommandException {
    try {
      return trips.submit(script.pendingCommand(false, deadlineNanos));
    } catch (CommandException fault) {
      if (fault.getCause() instanceof JedisNoScriptException) {
        return trips.submit(script.pendingCommand(true, deadlineNanos));
      }
      throw fault;
    }
  }

  @Override
  public void send(PendingCommand first, Supplier<List<PendingCommand>> others)
      throws CommandException {
    List<PendingCommand> aboard = new ArrayList<>();
    boolean reusable = false;
    PooledConnection loan = node.borrow(first.deadlineNanos());
    try {
      aboard.add(first);
      aboard.addAll(others.get());
      reusable = node.onThread(() -> writeAndRead(loan.connection(), aboard));
    } finally {
      try {
        failUnanswered(aboard, PipelineBatch::unread);
      } finally {
        loan.giveBack(reusable);
      }
    }
  }

  /** As of a connection that broke: each asks again. */
  private static CommandException unread() {
    return new CommandException(Kind.UNREACHABLE, true, "the answer could not be read", null);
  }

  /** Gives each its answer; whether the connection can be used again. */
  private boolean writeAndRead(Connection connection, List<PendingCommand> aboard) {
    long deadlineNanos = aboard.get(0).deadlineNanos();
    try {
      int before = connection.getSoTimeout();
      connection.setSoTimeout(Deadlines.millisUntil(deadlineNanos));
      for (PendingCommand each : aboard) {
        connection.sendCommand(each.command());
      }
      boolean master = true;
      for (PendingCommand each : aboard) {
        connection.setSoTimeout(Deadlines.millisUntil(deadlineNanos));
        master &= answer(connection, each);
      }
      connection.setSoTimeout(before);
      return master && !connection.isBroken();
    } catch (RuntimeException e) {
      failUnanswered(aboard, () -> node.fault(e, connection));
      return false;
    }
  }

  /** Gives one its answer; false when the server takes no writes any more. */
  private boolean answer(Connection connection, PendingCommand passenger) {
    try {
      Object value = connection.getOne();
      passenger.answer(new Reply(value, null, RedisConnection.serverRunIdOf(connection)));
      return true;
    } catch (JedisDataException e) {
      CommandException fault = node.fault(e, connection);
      passenger.fail(fault);
      return fault.kind() != Kind.READ_ONLY;
    }
  }

  private static void failUnanswered(
      List<PendingCommand> aboard, Supplier<CommandException> fault) {
    for (PendingCommand each : aboard) {
      if (!each.isAnswered()) {
        each.fail(fault.get());
      }
    }
  }
}
