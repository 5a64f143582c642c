package io.mortise.connection.pool;

import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.DeadlineSocketFactory.NoHandshakeException;
import io.mortise.connection.pool.HostAddresses.SlowLookUpException;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.util.NoSuchElementException;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Classifies the exceptions of the Redis client: those of the connection here, the error replies of
 * the server by {@link ErrorReplies}.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
public final class ErrorClassifier {
  /** The end of the fact about a silent server. */
  public static final String NO_ANSWER = " did not answer in time";

  /** In the messages of a socket whose other end was closed; the last is of Windows. */
  private static final Pattern CLOSED = Pattern.compile("reset|[Bb]roken pipe|abort");

  /** The message of Jedis for a first byte with which no answer begins; that byte follows. */
  private static final String UNKNOWN_REPLY = "Unknown reply: ";

  /** The first byte of a TLS alert record. */
  private static final String TLS_ALERT = "\u0015";

  private static final String PLAIN_HINT =
      "; if it does not speak TLS on that port, use redis:// instead of rediss://";

  private static final String TLS_HINT =
      "; if it speaks TLS on that port, use rediss:// instead of redis://";

  private ErrorClassifier() {}

  /**
   * Classifies an exception.
   *
   * @param where the server, for the message
   * @param sent whether the command had been sent, so that it may have run when the answer is
   *     missing
   */
  public static CommandException of(Exception thrown, String where, boolean sent) {
    if (thrown instanceof JedisDataException reply) {
      return ErrorReplies.of(reply, where, sent);
    }
    if (thrown instanceof PartlyExecutedException partly) {
      return ErrorReplies.ofPartlyExecuted(partly.refusal(), where);
    }
    if (thrown instanceof UnansweredUndoException undo) {
      return new CommandException(
          Kind.NOT_REPLICATED,
          true,
          "%s; but the command that undoes it has no answer: %s"
              .formatted(undo.whyUndone(), connectionFailure(undo.failure(), where)),
          undo);
    }
    if (thrown instanceof NoSuchElementException) {
      return new CommandException(
          Kind.POOL_EXHAUSTED,
          false,
          "all connections to %s are in use; raise LockTuning.maxConnections, or the size of the pool of your Jedis client"
              .formatted(where),
          thrown);
    }
    if (thrown instanceof SentinelConnection.UnknownMaster) {
      return new CommandException(
          Kind.MISCONFIGURED, false, where + ": " + thrown.getMessage(), thrown);
    }
    Throwable certificate = causeOf(CertificateException.class, thrown);
    if (certificate != null) {
      return new CommandException(
          Kind.CERTIFICATE_REJECTED,
          false,
          "the certificate of "
              + where
              + " was refused: "
              + firstMessage(certificate)
              + "; check the host name and the trust store",
          thrown);
    }
    return new CommandException(Kind.UNREACHABLE, sent, connectionFailure(thrown, where), thrown);
  }

  private static String connectionFailure(Exception thrown, String where) {
    String message = firstMessage(thrown);
    if (message.startsWith(UNKNOWN_REPLY)) {
      return message.startsWith(TLS_ALERT, UNKNOWN_REPLY.length())
          ? where + " wants TLS; use rediss:// instead of redis://"
          : where
              + " does not speak the protocol of Redis (it answers with '"
              + message.substring(UNKNOWN_REPLY.length())
              + "...'); check host and port";
    }
    Throwable ioFailure = ioCause(thrown);
    return ioFailure instanceof ConnectException
        ? where + " refuses the connection"
        : ioFailure instanceof UnknownHostException
            ? where + " has no address; check the host name"
            : ioFailure instanceof SlowLookUpException
                ? firstMessage(ioFailure)
                : ioFailure instanceof SocketTimeoutException
                    ? where + NO_ANSWER
                    : "the connection to " + where + " failed: " + message;
  }

  public static CommandException ofConnecting(Exception thrown, String where) {
    CommandException fault = of(thrown, where, false);
    if (fault.kind() != Kind.UNREACHABLE) {
      return fault;
    }
    Throwable tlsFailure = causeOf(SSLException.class, thrown);
    String hint =
        causeOf(NoHandshakeException.class, thrown) != null
            ? where + " did not answer to TLS in time" + PLAIN_HINT
            : tlsFailure != null
                ? "TLS with " + where + " failed: " + firstMessage(tlsFailure) + PLAIN_HINT
                : hasClosed(thrown)
                    ? where + " closed the connection at once: " + firstMessage(thrown) + TLS_HINT
                    : null;
    return hint == null ? fault : new CommandException(Kind.UNREACHABLE, false, hint, thrown);
  }

  /** Returns whether the server, or a proxy before it, closed the connection of that command. */
  static boolean hasClosed(CommandException fault) {
    return fault.kind() == Kind.UNREACHABLE
        && fault.getCause() instanceof Exception thrown
        && hasClosed(thrown);
  }

  /** By a reset, which a write may meet as a broken pipe, or in order. */
  private static boolean hasClosed(Exception thrown) {
    Throwable ioFailure = ioCause(thrown);
    return ioFailure == null
        ? firstMessage(thrown).startsWith("Unexpected end of stream")
        : ioFailure instanceof EOFException // inside TLS
            || (ioFailure.getClass() == SocketException.class
                && CLOSED.matcher(firstMessage(ioFailure)).find());
  }

  /** Returns whether a sentinel refuses the login or a right, has no such master, or is none. */
  static boolean isRefusal(@Nullable Throwable failure) {
    return failure instanceof SentinelConnection.UnknownMaster
        || (failure instanceof JedisDataException reply
            && of(reply, "", false).kind() == Kind.ACCESS_DENIED);
  }

  private static @Nullable Throwable causeOf(Class<?> type, Throwable thrown) {
    Throwable cause = thrown;
    while (cause != null && !type.isInstance(cause)) {
      cause = cause.getCause();
    }
    return cause;
  }

  private static @Nullable Throwable ioCause(Throwable thrown) {
    Throwable found = null;
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      for (Throwable suppressed : t.getSuppressed()) {
        if (suppressed instanceof IOException) {
          found = suppressed;
        }
      }
      if (t instanceof IOException) {
        found = t;
      }
    }
    return found;
  }

  private static String firstMessage(Throwable thrown) {
    return thrown.getMessage() == null ? thrown.toString() : thrown.getMessage();
  }
}
