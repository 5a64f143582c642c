package io.mortise.redlock;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The call to one member, with room for its reply: to deliver it needs no memory.
 *
 * <p><b>Threads.</b> Guarded by the monitor of its {@link FanOut}.
 */
final class MemberCall<T> {
  boolean asked;
  boolean answered;

  /** Null when the call failed. */
  @Nullable T value;

  /** Null when the call succeeded, and when it was not made. */
  @Nullable Throwable failure;

  /** The thread that makes the call; null before and afterwards. */
  @Nullable Thread thread;

  /** Returns whether the member was called and has not replied. */
  boolean isOpen() {
    return asked && !answered;
  }

  /** Returns the reply; null if there is none yet. */
  @Nullable NodeReply<T> reply(QuorumMember member) {
    return answered ? new NodeReply<>(value, value == null ? exception(member) : null) : null;
  }

  private RuntimeException exception(QuorumMember member) {
    if (failure instanceof RejectedExecutionException) {
      return new LockException(Reason.CLIENT_CLOSED, member + ": its client was closed", failure);
    }
    if (failure instanceof RuntimeException thrown) {
      return thrown;
    }
    return member.noReply(
        failure == null
            ? "could not be asked"
            : failure instanceof Error ? "an error kept back its reply" : "was not awaited",
        failure);
  }
}
