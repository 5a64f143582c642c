package io.mortise.connection.pool;

import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.DeadlineSocketFactory.NoHandshakeException;
import io.mortise.connection.pool.HostAddresses.SlowLookUpException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Classifies the exceptions of the Redis client. Most error replies have no type of their own in
 * Jedis; the text of the reply decides.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
public final class ErrorClassifier {
  /**
   * Before Redis 7, the error of a command inside a script is wrapped in another message; an error
   * that the script catches has the line number in front.
   */
  private static final Pattern INSIDE_SCRIPT =
      Pattern.compile("@user_script: ?\\d+: -?((?!ERR\\b)[A-Z]{3,} .*)$");

  /** The refusal of WAIT and WAITAOF by a replica. */
  public static final String NOT_OF_REPLICAS = "cannot be used with replica instances";

  /** The end of the fact about a silent server. */
  public static final String NO_ANSWER = " did not answer in time";

  private static final String NOT_READY = "the server is not ready";

  /**
   * A kind of error reply.
   *
   * @param text a part of the reply, which decides
   * @param halfway whether a part of the script may have run before
   */
  private record Refusal(Pattern text, Kind kind, String fact, boolean halfway) {
    Refusal(String text, Kind kind, String fact, boolean halfway) {
      this(Pattern.compile(text), kind, fact, halfway);
    }

    boolean isIn(String message) {
      return text.matcher(message).find();
    }
  }

  /** A script has met a key that is on its way to another node; the second text is of Redis 7.4. */
  private static final Refusal MOVING_KEY =
      new Refusal(
          "non local key in a cluster|undeclared keys were accessed during rehashing",
          Kind.NOT_READY,
          "keys of the lock are moving",
          true);

  /** The refusals by their codes, and then those that have none. The first that fits counts. */
  private static final List<Refusal> REFUSALS =
      List.of(
          new Refusal(
              "^-?READONLY\\b|" + NOT_OF_REPLICAS,
              Kind.READ_ONLY,
              "the server is a replica and takes no writes",
              false),
          new Refusal(
              "^-?(LOCKTYPE|WRONGTYPE)\\b",
              Kind.WRONG_TYPE,
              "the name is in use as something else",
              false),
          new Refusal("^-?OOM\\b", Kind.OUT_OF_MEMORY, "the server has no memory left", false),
          new Refusal(
              "^-?(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MISCONF|NOREPLICAS|UNKILLABLE)\\b",
              Kind.NOT_READY,
              NOT_READY,
              false),
          // A WAIT was ended, as when the server becomes a replica.
          new Refusal("^-?UNBLOCKED\\b", Kind.NOT_READY, NOT_READY, true),
          new Refusal(
              "^-?(MOVED|ASK)\\b",
              Kind.MISCONFIGURED,
              "the server is a node of a Redis Cluster",
              false),
          // Of the login, and of the commands of a script that may be run.
          new Refusal(
              "^-?(WRONGPASS|NOAUTH|NOPERM|DENIED)\\b"
                  + "|invalid password|password configured|no password is set"
                  + "|The user executing the script can't|ACL failure in script",
              Kind.ACCESS_DENIED,
              "access was denied",
              true),
          MOVING_KEY,
          // A cluster with cluster-allow-reads-when-down lets a script begin, but not write.
          new Refusal(
              "command while the cluster is down|access a slot not served",
              Kind.NOT_READY,
              "the cluster is down",
              true),
          new Refusal(
              "cluster support disabled",
              Kind.MISCONFIGURED,
              "the server is no node of a Redis Cluster",
              false),
          new Refusal(
              "DB index is out of range|invalid DB index|SELECT is not allowed",
              Kind.MISCONFIGURED,
              "the server has no such database",
              false),
          new Refusal(
              "max number of clients", Kind.NOT_READY, "the server takes no more clients", false),
          new Refusal("", Kind.SCRIPT, "the server refused the command", true));

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
      return ofReply(reply, where, sent);
    }
    if (thrown instanceof PartlyExecutedException partly) {
      return ofPartlyExecuted(partly.refusal(), where);
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
          Kind.MISCONFIGURED,
          false,
          where + ": these sentinels watch no master of that name; check the part behind the '#'",
          thrown);
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

  /** Returns whether the server closed the connection, by a reset or in order. */
  private static boolean hasClosed(Exception thrown) {
    Throwable ioFailure = ioCause(thrown);
    return ioFailure == null
        ? firstMessage(thrown).startsWith("Unexpected end of stream")
        : ioFailure.getClass() == SocketException.class
            && firstMessage(ioFailure).contains("reset");
  }

  /** The keys of the lock may be moving just now: that is no fault of the configuration. */
  private static CommandException ofPartlyExecuted(JedisDataException refusal, String where) {
    CommandException fault = ofReply(refusal, where, true);
    Kind kind = fault.kind() == Kind.MISCONFIGURED ? Kind.NOT_READY : fault.kind();
    return new CommandException(kind, true, String.valueOf(fault.getMessage()), refusal);
  }

  private static CommandException ofReply(JedisDataException reply, String where, boolean sent) {
    String message = errorInsideScript(String.valueOf(reply.getMessage()));
    Refusal refusal =
        REFUSALS.stream().filter(each -> each.isIn(message)).findFirst().orElseThrow();
    return new CommandException(
        refusal.kind(),
        refusal.halfway() && sent,
        refusal.fact() + " (" + where + " says: " + message + ")",
        reply);
  }

  /** Returns whether that is an error reply which refuses the login, or a right. */
  static boolean isAccessDenied(@Nullable Throwable failure) {
    return failure instanceof JedisDataException reply
        && of(reply, "", false).kind() == Kind.ACCESS_DENIED;
  }

  /** Returns whether a script has met a key that is on its way to another node of a cluster. */
  public static boolean isMovingKey(String message) {
    return MOVING_KEY.isIn(message);
  }

  private static String errorInsideScript(String message) {
    Matcher inside = INSIDE_SCRIPT.matcher(message);
    boolean wrapped =
        message.startsWith("ERR Error running script") || message.startsWith("@user_script");
    return wrapped && inside.find() ? inside.group(1) : message;
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
