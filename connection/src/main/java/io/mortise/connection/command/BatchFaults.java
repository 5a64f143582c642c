package io.mortise.connection.command;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import org.jspecify.annotations.Nullable;

/**
 * The faults of items that got no answer. They are made before they are needed, for the time when
 * there is no memory for others.
 *
 * <p><b>Threads.</b> Immutable; any thread may call any method.
 */
final class BatchFaults {
  final CommandException unwanted =
      new CommandException(
          Kind.NOT_READY, false, "it was not sent, because it came too late", null);

  final CommandException unsent = newUnsent(null);

  private final CommandException noAnswer =
      new CommandException(Kind.SCRIPT, true, "an error kept the answer back", null);

  /** The fault of what was not sent, with its cause if there is memory for that. */
  CommandException unsent(@Nullable Throwable cause) {
    try {
      return newUnsent(cause);
    } catch (Throwable noMemory) {
      return unsent;
    }
  }

  private static CommandException newUnsent(@Nullable Throwable cause) {
    return new CommandException(
        Kind.POOL_EXHAUSTED, false, "no thread could be started, or an error came", cause);
  }

  /** The fault of what may have been sent, with its cause if there is memory for that. */
  CommandException noAnswer(Throwable cause) {
    try {
      return new CommandException(
          Kind.SCRIPT, true, "an error kept the answer back: " + cause, cause);
    } catch (Throwable noMemory) {
      return noAnswer;
    }
  }
}
