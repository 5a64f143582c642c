package io.mortise.connection.pool;

import io.mortise.connection.pool.CommandException.Kind;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Classifies the error replies of a server. Most of them have no type of their own in Jedis; the
 * text of the reply decides.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
public final class ErrorReplies {
  /**
   * Before Redis 7, the error of a command inside a script is wrapped in another message; an error
   * that the script catches has the line number in front.
   */
  private static final Pattern INSIDE_SCRIPT =
      Pattern.compile("@user_script: ?\\d+: -?((?!ERR\\b)[A-Z]{3,} .*)$");

  /** The refusal of WAIT and WAITAOF by a replica. */
  public static final String NOT_OF_REPLICAS = "cannot be used with replica instances";

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

  private ErrorReplies() {}

  /**
   * Classifies an error reply.
   *
   * @param where the server, for the message
   * @param sent whether the command itself was sent: if not, the reply is that to the greeting
   */
  static CommandException of(JedisDataException reply, String where, boolean sent) {
    String message = errorInsideScript(String.valueOf(reply.getMessage()));
    Refusal refusal =
        REFUSALS.stream().filter(each -> each.isIn(message)).findFirst().orElseThrow();
    return new CommandException(
        refusal.kind(),
        refusal.halfway() && sent,
        refusal.fact() + " (" + where + " says: " + message + ")",
        reply);
  }

  /** The keys of the lock may be moving just now: that is no fault of the configuration. */
  static CommandException ofPartlyExecuted(JedisDataException refusal, String where) {
    CommandException fault = of(refusal, where, true);
    Kind kind = fault.kind() == Kind.MISCONFIGURED ? Kind.NOT_READY : fault.kind();
    return new CommandException(kind, true, String.valueOf(fault.getMessage()), refusal);
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
}
