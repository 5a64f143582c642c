package io.mortise.connection.pool;

import java.net.SocketTimeoutException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * A command that failed, inside the engine: what it was, and whether it may have run all the same.
 */
public final class CommandException extends Exception {
  private static final long serialVersionUID = 1L;

  /** What kind of fault it is; to callers, the reason of the same name. */
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

    private final boolean passing;

    Kind(boolean passing) {
      this.passing = passing;
    }

    /** Whether it is worth trying again. */
    public boolean isTransient() {
      return passing;
    }
  }

  private final Kind kind;
  private final boolean mayHaveRun;

  /** See {@link RedisConnection#serverRunId}. */
  private final @Nullable String life;

  public CommandException(
      Kind kind, boolean mayHaveRun, String message, @Nullable Throwable cause) {
    this(kind, mayHaveRun, message, cause, null);
  }

  private CommandException(
      Kind kind,
      boolean mayHaveRun,
      String message,
      @Nullable Throwable cause,
      @Nullable String life) {
    super(message, cause);
    this.kind = kind;
    this.mayHaveRun = mayHaveRun;
    this.life = life;
  }

  /** The same, of a command to that server. */
  public CommandException onServer(@Nullable String server) {
    return new CommandException(kind, mayHaveRun, String.valueOf(getMessage()), getCause(), server);
  }

  /** Which server had the command; null when that is not known. */
  @Nullable String serverRunId() {
    return life;
  }

  public Kind kind() {
    return kind;
  }

  /** Whether the command may have reached the server although its answer did not arrive. */
  public boolean mayHaveExecuted() {
    return mayHaveRun;
  }

  /** Whether Redis has answered, with an error: nothing of the command is on its way any more. */
  public boolean isServerReply() {
    return getCause() instanceof JedisDataException;
  }

  /** Whether the connection broke at once: it did not only take too long. */
  public boolean isBrokenConnection() {
    return kind == Kind.UNREACHABLE && !isTimeOut();
  }

  /** Whether it took too long. */
  public boolean isTimeOut() {
    for (Throwable t = getCause(); t != null; t = t.getCause()) {
      if (t instanceof SocketTimeoutException || t instanceof TimeoutException) {
        return true;
      }
    }
    return false;
  }

  /** The same, after an earlier try that may have run: at the server of that. */
  public CommandException afterEarlier(CommandException earlier) {
    return this == earlier
        ? this
        : new CommandException(kind, true, String.valueOf(getMessage()), getCause(), earlier.life);
  }
}
