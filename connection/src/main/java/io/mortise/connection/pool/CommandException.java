package io.mortise.connection.pool;

import java.net.SocketTimeoutException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisDataException;

/** The failure of a command: its kind, and whether the command may have run all the same. */
public final class CommandException extends Exception {
  private static final long serialVersionUID = 1L;

  /** The kind of a failure; the caller of a lock sees the reason of the same name. */
  public enum Kind {
    UNREACHABLE(true),
    NOT_READY(true),
    READ_ONLY(true),
    OUT_OF_MEMORY(true),
    NOT_REPLICATED(true),
    POOL_EXHAUSTED(true),
    ACCESS_DENIED(false),
    CERTIFICATE_REJECTED(false),
    MISCONFIGURED(false),
    WRONG_TYPE(false),
    NOT_SUPPORTED(false),
    SCRIPT(false),
    CLIENT_CLOSED(false);

    private final boolean transientKind;

    Kind(boolean transientKind) {
      this.transientKind = transientKind;
    }

    /** Returns whether another attempt is worthwhile. */
    public boolean isTransient() {
      return transientKind;
    }
  }

  private final Kind kind;
  private final boolean mayHaveExecuted;
  private final int unansweredAttempts;

  /** See {@link RedisConnection#serverRunId}. */
  private final @Nullable String serverRunId;

  public CommandException(
      Kind kind, boolean mayHaveExecuted, String message, @Nullable Throwable cause) {
    this(
        kind,
        mayHaveExecuted,
        message,
        cause,
        null,
        mayHaveExecuted && !(cause instanceof JedisDataException) ? 1 : 0);
  }

  private CommandException(
      Kind kind,
      boolean mayHaveExecuted,
      String message,
      @Nullable Throwable cause,
      @Nullable String serverRunId,
      int unansweredAttempts) {
    super(message, cause);
    this.kind = kind;
    this.mayHaveExecuted = mayHaveExecuted;
    this.serverRunId = serverRunId;
    this.unansweredAttempts = unansweredAttempts;
  }

  /** Returns the same failure, of a command to that server. */
  public CommandException onServer(@Nullable String serverRunId) {
    return new CommandException(
        kind,
        mayHaveExecuted,
        String.valueOf(getMessage()),
        getCause(),
        serverRunId,
        unansweredAttempts);
  }

  /** Returns the server that received the command; null when it is not known. */
  @Nullable String serverRunId() {
    return serverRunId;
  }

  public Kind kind() {
    return kind;
  }

  /** Returns whether the command may have reached the server although its answer did not arrive. */
  public boolean mayHaveExecuted() {
    return mayHaveExecuted;
  }

  /** Returns how many attempts had no answer, and so may still be on their way to the server. */
  public int unansweredAttempts() {
    return unansweredAttempts;
  }

  /** Returns whether Redis has answered the last attempt, with an error. */
  public boolean isServerReply() {
    return getCause() instanceof JedisDataException;
  }

  /**
   * Returns whether a command that undoes an attempt has no answer: then no attempt of the same
   * holder may follow, see {@link UnansweredUndoException}.
   */
  public boolean isUndoUnanswered() {
    return getCause() instanceof UnansweredUndoException;
  }

  /** Returns whether the connection broke, other than by a time-out. */
  public boolean isBrokenConnection() {
    return kind == Kind.UNREACHABLE && !isTimeOut();
  }

  /**
   * Returns whether the connection broke, other than by a time-out, during the command or during
   * the undo of an attempt. An undo without an answer has the kind {@code NOT_REPLICATED}, and its
   * attempt must not be repeated.
   */
  public boolean hasLostConnection() {
    return isBrokenConnection() || (isUndoUnanswered() && !isTimeOut());
  }

  public boolean isTimeOut() {
    for (Throwable cause = getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof SocketTimeoutException || cause instanceof TimeoutException) {
        return true;
      }
    }
    return false;
  }

  /** Returns the failure of another command, which was not sent because this one had failed. */
  public CommandException ofUnsent() {
    return new CommandException(kind, false, String.valueOf(getMessage()), getCause());
  }

  /**
   * Returns the same failure, after an earlier attempt that may have run; null for none. The server
   * is that of the first attempt without an answer, or of the first attempt.
   */
  public CommandException afterEarlier(@Nullable CommandException earlier) {
    return earlier == null
        ? this
        : new CommandException(
            kind,
            true,
            String.valueOf(getMessage()),
            getCause(),
            earlier.unansweredAttempts == 0 && unansweredAttempts > 0
                ? serverRunId
                : earlier.serverRunId,
            unansweredAttempts + earlier.unansweredAttempts);
  }
}
