package io.mortise.core.internal;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * A command that failed, inside the engine: what it was, and whether it may have run all the same.
 */
public final class Fault extends Exception {
  private static final long serialVersionUID = 1L;

  private final Reason reason;
  private final boolean mayHaveRun;

  /** See {@link Wire#life}. */
  private final @Nullable String life;

  Fault(Reason reason, boolean mayHaveRun, String message, @Nullable Throwable cause) {
    this(reason, mayHaveRun, message, cause, null);
  }

  private Fault(
      Reason reason,
      boolean mayHaveRun,
      String message,
      @Nullable Throwable cause,
      @Nullable String life) {
    super(message, cause);
    this.reason = reason;
    this.mayHaveRun = mayHaveRun;
    this.life = life;
  }

  /** The same, of a command to that server. */
  Fault at(@Nullable String server) {
    return new Fault(reason, mayHaveRun, String.valueOf(getMessage()), getCause(), server);
  }

  /** Which server had the command; null when that is not known. */
  @Nullable String life() {
    return life;
  }

  Reason reason() {
    return reason;
  }

  /** Whether the command may have reached the server although its answer did not arrive. */
  boolean mayHaveRun() {
    return mayHaveRun;
  }

  /** Whether Redis has answered, with an error: nothing of the command is on its way any more. */
  boolean isAnswer() {
    return getCause() instanceof JedisDataException;
  }

  /** Whether the connection broke at once: it did not only take too long. */
  boolean isBrokenConnection() {
    return reason == Reason.UNREACHABLE && !isTimeOut();
  }

  /** Whether it took too long. */
  boolean isTimeOut() {
    for (Throwable t = getCause(); t != null; t = t.getCause()) {
      if (t instanceof SocketTimeoutException || t instanceof TimeoutException) {
        return true;
      }
    }
    return false;
  }

  /** The same, after an earlier try that may have run: at the server of that. */
  Fault after(Fault earlier) {
    return this == earlier
        ? this
        : new Fault(reason, true, String.valueOf(getMessage()), getCause(), earlier.life);
  }

  /**
   * As the caller sees it: with the lock's name before the fact, and the client's exception behind.
   */
  LockException forCaller(Object lock) {
    return new LockException(reason, "lock '" + lock + "': " + getMessage(), getCause());
  }

  /** The same, with what it means for the caller between the two. */
  LockException forCaller(Object lock, String consequence) {
    return new LockException(
        reason, "lock '" + lock + "': " + consequence + ": " + getMessage(), getCause());
  }
}
