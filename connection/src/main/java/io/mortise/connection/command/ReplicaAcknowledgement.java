package io.mortise.connection.command;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ConnectionSettings.Durability;
import io.mortise.connection.pool.ErrorReplies;
import java.util.List;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Waits until the writes of a connection are safe: by WAIT, or by WAITAOF. Both cover only the
 * writes of their own connection, so they follow the write on the same one.
 *
 * <p><b>Threads.</b> Any thread may call every method; the object is immutable.
 */
record ReplicaAcknowledgement(Durability wanted) {

  boolean isRequired() {
    return wanted.isWanted();
  }

  /** Waits for the acknowledgements; returns the failure when some are missing. */
  @Nullable AcknowledgementFailure await(Connection connection, Deadline deadline) {
    long halfMillis = deadline.leftNanos() / 2_000_000;
    long millis = Math.max(1, Math.min(wanted.within().toMillis(), halfMillis));
    connection.setSoTimeout(deadline.leftMillis());
    try {
      return wanted.onDisk() ? awaitDisks(connection, millis) : awaitReplicas(connection, millis);
    } catch (JedisDataException refusal) {
      if (isUnsupported(refusal)) {
        return new AcknowledgementFailure(Kind.NOT_SUPPORTED, unsupported(refusal));
      }
      throw refusal;
    }
  }

  /** Waits for no replica: fails unless the server has the command, and may run it. */
  Object probe(Connection connection, Deadline deadline) {
    CommandArguments command =
        wanted.onDisk()
            ? new CommandArguments(Command.WAITAOF).add(1).add(0).add(1)
            : new CommandArguments(Command.WAIT).add(0).add(1);
    return connection.executeCommand(command);
  }

  private static boolean isUnsupported(JedisDataException refusal) {
    String message = String.valueOf(refusal.getMessage());
    return message.startsWith("ERR unknown command")
        || (message.contains("WAITAOF cannot be used")
            && !message.contains(ErrorReplies.NOT_OF_REPLICAS));
  }

  private static String unsupported(JedisDataException refusal) {
    return "the server cannot do what LockOptions.acknowledgement wants (%s)"
        .formatted(refusal.getMessage());
  }

  /** Returns the failure of a probe for the caller; null when it is transient. */
  static @Nullable CommandException permanentFailureOf(CommandException fault) {
    if (fault.getCause() instanceof JedisDataException refusal && isUnsupported(refusal)) {
      return new CommandException(Kind.NOT_SUPPORTED, false, unsupported(refusal), refusal);
    }
    return fault.kind().isTransient() ? null : fault;
  }

  private @Nullable AcknowledgementFailure awaitReplicas(Connection connection, long millis) {
    long replicas =
        (Long)
            connection.executeCommand(
                new CommandArguments(Command.WAIT).add(wanted.replicas()).add(millis));
    return replicas >= wanted.replicas()
        ? null
        : new AcknowledgementFailure(
            Kind.NOT_REPLICATED,
            "%d of %d replicas have acknowledged the acquisition within %d ms; look at the replicas' lag, or at LockOptions.acknowledgement"
                .formatted(replicas, wanted.replicas(), millis));
  }

  private @Nullable AcknowledgementFailure awaitDisks(Connection connection, long millis) {
    List<?> answer =
        (List<?>)
            connection.executeCommand(
                new CommandArguments(Command.WAITAOF).add(1).add(wanted.replicas()).add(millis));
    long local = (Long) answer.get(0);
    long replicas = (Long) answer.get(1);
    return local >= 1 && replicas >= wanted.replicas()
        ? null
        : new AcknowledgementFailure(
            Kind.NOT_REPLICATED,
            "within %d ms the acquisition was on the disk of %s master and %d of %d replicas; look at appendfsync and the replicas' lag, or at LockOptions.acknowledgement"
                .formatted(millis, local >= 1 ? "the" : "no", replicas, wanted.replicas()));
  }

  /** The reason why an acquisition does not count. */
  record AcknowledgementFailure(Kind kind, String message) {}
}
