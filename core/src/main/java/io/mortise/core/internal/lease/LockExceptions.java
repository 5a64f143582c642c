package io.mortise.core.internal.lease;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Reply;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.spi.LockName;
import org.jspecify.annotations.Nullable;

/**
 * Converts a {@link CommandException} into the {@link LockException} for the caller: the name of
 * the lock comes before the fact, and the remedy behind it.
 *
 * <p><b>Threads.</b> Stateless: any thread may call any method.
 */
public final class LockExceptions {
  private LockExceptions() {}

  public static LockException from(CommandException fault, Object lock) {
    return of(fault, "lock '" + lock + "': ");
  }

  /** Converts a fault and states its consequence for the caller between the name and the fact. */
  public static LockException from(CommandException fault, Object lock, String consequence) {
    return of(fault, "lock '" + lock + "': " + consequence + ": ");
  }

  /** Converts a fault that does not concern one lock. */
  public static LockException from(CommandException fault) {
    return of(fault, "");
  }

  public static LockException clientClosed(Object lock) {
    return new LockException(
        Reason.CLIENT_CLOSED, "lock '" + lock + "': its client was closed", null);
  }

  /** Returns the exception for the caller of a release that Redis did not confirm. */
  static LockException unconfirmed(CommandException fault, LockName name, long leftNanos) {
    return from(
        fault,
        name,
        ("the release could not be confirmed; it is repeated in the background, and the lease runs"
                + " out in %d ms at the latest")
            .formatted(Math.max(0, leftNanos) / 1_000_000));
  }

  /**
   * Returns the exception for the caller of a release that was repeated and found nothing, if the
   * replying server is not the one that was asked first, or has restarted. Otherwise returns null:
   * a server that has not restarted keeps the hold, so the first try has released it.
   */
  static @Nullable LockException inDoubt(LockName name, Reply reply) {
    return reply.isFromSameServer()
        ? null
        : new LockException(
            Reason.IN_DOUBT,
            ("lock '%s': the release had to be repeated and found nothing, at a server that has"
                    + " restarted or taken the place of another. Either the first try"
                    + " released it; or it was lost with the data of that server, and another"
                    + " client may have had the lock at the same time: compare fencing tokens")
                .formatted(name),
            reply.before());
  }

  private static LockException of(CommandException fault, String before) {
    Reason reason = Reason.valueOf(fault.kind().name()); // each kind has one
    String remedy = Remedies.isMissingIn(fault) ? Remedies.forCaller(fault) : null;
    return new LockException(reason, before + fault.getMessage(), remedy, fault.getCause());
  }
}
