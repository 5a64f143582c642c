package io.mortise.core.internal.lease;

import io.mortise.connection.pool.CommandException;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;

/**
 * Converts a {@link CommandException} into the {@link LockException} for the caller: the name of
 * the lock comes before the fact.
 *
 * <p><b>Threads.</b> Stateless: any thread may call any method.
 */
public final class LockExceptions {
  private LockExceptions() {}

  public static LockException from(CommandException fault, Object lock) {
    return new LockException(
        reason(fault), "lock '" + lock + "': " + fault.getMessage(), fault.getCause());
  }

  /** Converts a fault and states its consequence for the caller between the name and the fact. */
  public static LockException from(CommandException fault, Object lock, String consequence) {
    return new LockException(
        reason(fault),
        "lock '" + lock + "': " + consequence + ": " + fault.getMessage(),
        fault.getCause());
  }

  /** Converts a fault that does not concern one lock. */
  public static LockException from(CommandException fault) {
    return new LockException(reason(fault), String.valueOf(fault.getMessage()), fault.getCause());
  }

  private static Reason reason(CommandException fault) {
    return switch (fault.kind()) {
      case UNREACHABLE -> Reason.UNREACHABLE;
      case NOT_READY -> Reason.NOT_READY;
      case READ_ONLY -> Reason.READ_ONLY;
      case OUT_OF_MEMORY -> Reason.OUT_OF_MEMORY;
      case NOT_REPLICATED -> Reason.NOT_REPLICATED;
      case POOL_EXHAUSTED -> Reason.POOL_EXHAUSTED;
      case ACCESS_DENIED -> Reason.ACCESS_DENIED;
      case CERTIFICATE_REJECTED -> Reason.CERTIFICATE_REJECTED;
      case MISCONFIGURED -> Reason.MISCONFIGURED;
      case WRONG_TYPE -> Reason.WRONG_TYPE;
      case NOT_SUPPORTED -> Reason.NOT_SUPPORTED;
      case SCRIPT -> Reason.SCRIPT;
      case CLIENT_CLOSED -> Reason.CLIENT_CLOSED;
    };
  }
}
