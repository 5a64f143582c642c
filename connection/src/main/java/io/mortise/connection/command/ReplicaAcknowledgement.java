package io.mortise.connection.command;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ConnectionSettings.Durability;
import io.mortise.connection.pool.Deadlines;
import java.util.List;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Waits until what a connection has written is safe: WAIT, or WAITAOF. Both speak of the writes of
 * their own connection alone, so they follow the write on the same one.
 */
final class ReplicaAcknowledgement {
  private final Durability wanted;

  ReplicaAcknowledgement(Durability wanted) {
    this.wanted = wanted;
  }

  boolean isRequired() {
    return wanted.isWanted();
  }

  /**
   * Waits for them.
   *
   * @return what to say when they fall short; null when they do not
   */
  @Nullable Shortfall await(Connection connection, long deadlineNanos) {
    long half = (deadlineNanos - System.nanoTime()) / 2_000_000;
    long millis = Math.max(1, Math.min(wanted.within().toMillis(), half));
    connection.setSoTimeout(Deadlines.millisUntil(deadlineNanos));
    try {
      return wanted.onDisk() ? onDisks(connection, millis) : inMemory(connection, millis);
    } catch (JedisDataException refusal) {
      return isUnsupported(refusal)
          ? new Shortfall(
              Kind.NOT_SUPPORTED,
              "the server cannot do what LockOptions.acknowledgement wants ("
                  + refusal.getMessage()
                  + ")")
          : rethrow(refusal);
    }
  }

  private static Shortfall rethrow(JedisDataException refusal) {
    throw refusal;
  }

  /** Whether the server has the command, and its settings allow it: by asking for nothing. */
  Object probe(Connection connection, long deadlineNanos) {
    CommandArguments command =
        wanted.onDisk()
            ? new CommandArguments(Command.WAITAOF).add(1).add(0).add(1)
            : new CommandArguments(Command.WAIT).add(0).add(1);
    return connection.executeCommand(command);
  }

  private static boolean isUnsupported(JedisDataException refusal) {
    String message = String.valueOf(refusal.getMessage());
    return message.startsWith("ERR unknown command") || message.contains("WAITAOF cannot be used");
  }

  /** The fault of a probe as it is told to who makes the client; null when it may pass. */
  static @Nullable CommandException permanentFailureOf(CommandException fault) {
    if (fault.getCause() instanceof JedisDataException refusal && isUnsupported(refusal)) {
      return new CommandException(
          Kind.NOT_SUPPORTED,
          false,
          "the server cannot do what LockOptions.acknowledgement wants ("
              + refusal.getMessage()
              + ")",
          refusal);
    }
    return fault.kind().isTransient() ? null : fault;
  }

  private @Nullable Shortfall inMemory(Connection connection, long millis) {
    long replicas =
        (Long)
            connection.executeCommand(
                new CommandArguments(Command.WAIT).add(wanted.replicas()).add(millis));
    return replicas >= wanted.replicas()
        ? null
        : new Shortfall(
            Kind.NOT_REPLICATED,
            "%d of %d replicas have acknowledged the acquisition within %d ms, and it was undone; look at the replicas' lag, or at LockOptions.acknowledgement"
                .formatted(replicas, wanted.replicas(), millis));
  }

  private @Nullable Shortfall onDisks(Connection connection, long millis) {
    List<?> answer =
        (List<?>)
            connection.executeCommand(
                new CommandArguments(Command.WAITAOF).add(1).add(wanted.replicas()).add(millis));
    long local = (Long) answer.get(0);
    long replicas = (Long) answer.get(1);
    return local >= 1 && replicas >= wanted.replicas()
        ? null
        : new Shortfall(
            Kind.NOT_REPLICATED,
            "within %d ms the acquisition was on the disk of %s master and %d of %d replicas, and it was undone; look at appendfsync and the replicas' lag, or at LockOptions.acknowledgement"
                .formatted(millis, local >= 1 ? "the" : "no", replicas, wanted.replicas()));
  }

  /** Why an acquisition does not count. */
  record Shortfall(Kind reason, String message) {}
}
