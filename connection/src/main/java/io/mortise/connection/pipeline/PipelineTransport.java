package io.mortise.connection.pipeline;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ConnectionLender;
import io.mortise.connection.pool.ConnectionPool.PooledConnection;
import io.mortise.connection.pool.RedisConnection;
import io.mortise.connection.pool.Reply;
import io.mortise.connection.pool.SocketBuffers;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * Sends a batch of commands on one connection: all are written, then the answers are read in the
 * same order.
 *
 * <p>A failure of the connection, a time-out too, is the outcome of all commands whose answers have
 * not been read; an error reply is the outcome of its own command alone. No command of another
 * thread is claimed before there is a connection.
 *
 * <p><b>Threads.</b> Any thread may send a batch. The connection belongs to that thread until it
 * gives the connection back.
 */
public final class PipelineTransport implements CommandCombiner.BatchTransport {
  private final ConnectionLender lender;

  /** Made before it is needed, for the time when there is no memory for another one. */
  private final CommandException unread = newUnread();

  private PipelineTransport(ConnectionLender lender) {
    this.lender = lender;
  }

  /** Returns a combiner of the commands to that server. */
  public static CommandCombiner to(ConnectionLender lender) {
    return to(lender, CombinerLimits.DEFAULTS);
  }

  public static CommandCombiner to(ConnectionLender lender, CombinerLimits limits) {
    return new CommandCombiner(lender.toString(), limits, new PipelineTransport(lender));
  }

  /** Runs a script: by its SHA-1, and by its text when the server does not know it. */
  public static Reply run(CommandCombiner combiner, CombinableExchange script, Deadline deadline)
      throws CommandException {
    try {
      return combiner.submit(script.pendingCommand(false, deadline));
    } catch (CommandException fault) {
      if (fault.getCause() instanceof JedisNoScriptException) {
        return combiner.submit(script.pendingCommand(true, deadline));
      }
      throw fault;
    }
  }

  @Override
  public void send(PendingCommand first, Consumer<List<PendingCommand>> others)
      throws CommandException {
    List<PendingCommand> batch = new ArrayList<>();
    boolean reusable = false;
    PooledConnection pooled = lender.borrow(first.deadline());
    try {
      batch.add(first);
      others.accept(batch);
      reusable = exchange(pooled, batch);
    } finally {
      boolean returned = false;
      try {
        failUnread(batch);
      } finally {
        try {
          pooled.giveBack(reusable);
          returned = true;
        } finally {
          pooled.abandoned = !returned;
        }
      }
    }
  }

  @Override
  public int maxConnections() {
    return lender.maxConnections();
  }

  /** Returns the failure of a broken connection, after which each thread asks again. */
  private static CommandException newUnread() {
    return new CommandException(Kind.UNREACHABLE, true, "the answer could not be read", null);
  }

  private CommandException unread() {
    try {
      return newUnread();
    } catch (Throwable noMemory) {
      return unread;
    }
  }

  /** Fails what an error has left without an answer. Nothing here may need memory. */
  private void failUnread(List<PendingCommand> batch) {
    for (int i = 0; i < batch.size(); i++) { // an iterator would need it
      PendingCommand each = batch.get(i);
      if (!each.isAnswered()) {
        each.fail(unread());
      }
    }
  }

  /** Gives each command its answer; returns whether the connection can be used again. */
  private boolean exchange(PooledConnection pooled, List<PendingCommand> batch) {
    int bytes = 0;
    for (PendingCommand each : batch) {
      bytes += each.bytes();
    }
    try {
      boolean writable =
          bytes > SocketBuffers.MIN_BYTES
              ? exchangeAlone(pooled, batch.get(0))
              : exchangeTogether(pooled, batch, bytes);
      return writable && !pooled.connection().isBroken();
    } catch (RuntimeException e) {
      for (PendingCommand each : batch) {
        if (!each.isAnswered()) {
          each.fail(lender.fault(e, pooled, true));
        }
      }
      return false;
    }
  }

  /** Each command has its answer as soon as it is read. Returns whether the server takes writes. */
  private boolean exchangeTogether(PooledConnection pooled, List<PendingCommand> batch, int bytes) {
    return lender.onThread(
        pooled.connection(),
        bytes,
        batch.get(0).deadline(),
        () -> writeAndRead(pooled, batch, PipelineTransport::deliver));
  }

  /**
   * A long command goes alone. It has its answer when the thread that read it has ended in time: a
   * later one may be that of another server, see {@link ConnectionLender#onThread}.
   */
  private boolean exchangeAlone(PooledConnection pooled, PendingCommand command) {
    List<Object> answers = new ArrayList<>(1);
    boolean writable =
        lender.onThread(
            pooled.connection(),
            command.bytes(),
            command.deadline(),
            () -> writeAndRead(pooled, List.of(command), (sent, answer) -> answers.add(answer)));
    deliver(command, answers.get(0));
    return writable;
  }

  private static void deliver(PendingCommand command, Object answer) {
    if (answer instanceof CommandException refusal) {
      command.fail(refusal);
    } else {
      command.answer((Reply) answer);
    }
  }

  /**
   * @param answers gets each answer as it is read, a {@link Reply} or a {@link CommandException}
   * @return whether the server takes writes
   */
  private boolean writeAndRead(
      PooledConnection pooled,
      List<PendingCommand> batch,
      BiConsumer<PendingCommand, Object> answers) {
    Connection connection = pooled.connection();
    Deadline deadline = batch.get(0).deadline();
    int formerTimeoutMillis = connection.getSoTimeout();
    connection.setSoTimeout(deadline.leftMillis());
    for (PendingCommand each : batch) {
      connection.sendCommand(each.command());
    }
    boolean writable = true;
    for (PendingCommand each : batch) {
      connection.setSoTimeout(deadline.leftMillis());
      Object answer = readAnswer(pooled);
      answers.accept(each, answer);
      writable &= !isReadOnly(answer);
    }
    connection.setSoTimeout(formerTimeoutMillis);
    return writable;
  }

  private static boolean isReadOnly(Object answer) {
    return answer instanceof CommandException refusal && refusal.kind() == Kind.READ_ONLY;
  }

  private Object readAnswer(PooledConnection pooled) {
    Connection connection = pooled.connection();
    try {
      return new Reply(connection.getOne(), null, RedisConnection.serverRunIdOf(connection));
    } catch (JedisDataException e) {
      return lender.fault(e, pooled, true);
    }
  }
}
