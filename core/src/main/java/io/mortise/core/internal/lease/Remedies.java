package io.mortise.core.internal.lease;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ErrorClassifier;
import java.util.stream.Stream;

/**
 * The remedy for each kind of fault. The fact itself names one, behind a semicolon, where only the
 * place of the fault knows it: a wrong scheme, a host without an address, a lease that is too
 * short.
 *
 * <p><b>Threads.</b> Stateless; any thread may call any method.
 */
public final class Remedies {
  /** The remedy for a server that is silent, or too slow. */
  public static final String SILENCE =
      "look at the load of the server and at the network, or raise LockOptions.commandTimeout";

  /** In the message of an operating system that lets this process open no more sockets. */
  private static final String NO_FILES = "Too many open files";

  private Remedies() {}

  /** Returns the remedy for a report about a server, also where the fact names one. */
  public static String of(CommandException fault) {
    return switch (fault.kind()) {
      case UNREACHABLE -> ofUnreachable(fault);
      case NOT_READY -> ofNotReady(fact(fault), reply(fault));
      case READ_ONLY -> "name its master, or the sentinels that watch it";
      case OUT_OF_MEMORY ->
          "raise maxmemory, or delete keys: a server that may not evict refuses writes when it is"
              + " full";
      case NOT_REPLICATED -> "connect more replicas, or require fewer acknowledgements";
      case POOL_EXHAUSTED ->
          "raise LockTuning.maxConnections, or the size of the pool of your Jedis client";
      case ACCESS_DENIED -> ofAccessDenied(fact(fault), reply(fault));
      case CERTIFICATE_REJECTED -> "name the host of the certificate, and trust its issuer";
      case MISCONFIGURED -> ofMisconfigured(reply(fault));
      case WRONG_TYPE -> "use another name, or a namespace that nothing else uses";
      case NOT_SUPPORTED -> ofNotSupported(fact(fault));
      case SCRIPT ->
          "use a Redis or Valkey that runs Lua scripts, without a proxy that changes them";
      case CLIENT_CLOSED -> "ask before the client is closed";
    };
  }

  /** Returns the remedy for the caller of a lock. */
  static String forCaller(CommandException fault) {
    return isSilence(fault) ? SILENCE + " or the wait" : of(fault);
  }

  /**
   * Returns whether a server, or its silence, is the cause of a fault, and the fact names no remedy
   * itself.
   */
  static boolean isMissingIn(CommandException fault) {
    boolean unnamed =
        fault.kind() == Kind.UNREACHABLE
            && fault.getCause() != null // otherwise it is an error of this process
            && !fact(fault).contains("; ");
    boolean unacknowledged =
        fault.kind() == Kind.NOT_REPLICATED || fault.kind() == Kind.NOT_SUPPORTED;
    return unnamed || unacknowledged || fault.isServerReply();
  }

  private static boolean isSilence(CommandException fault) {
    return fault.kind() == Kind.UNREACHABLE
        && (fault.isTimeOut() || fact(fault).endsWith(ErrorClassifier.NO_ANSWER));
  }

  private static String fact(CommandException fault) {
    return String.valueOf(fault.getMessage());
  }

  /** Returns what the server replied; empty when it did not. */
  private static String reply(CommandException fault) {
    Throwable reply = fault.getCause();
    return reply == null ? "" : String.valueOf(reply.getMessage());
  }

  private static String ofUnreachable(CommandException fault) {
    if (isSilence(fault)) {
      return SILENCE;
    }
    return isNamed(NO_FILES, fault)
        ? "this process has opened as many files as it may: raise that number (ulimit -n), or find"
            + " out which it does not close"
        : "see whether the server runs, and whether host, port and TLS settings are right";
  }

  /**
   * Returns whether a cause has that message; Jedis suppresses the failures of single addresses.
   */
  private static boolean isNamed(String message, Throwable fault) {
    for (Throwable cause = fault; cause != null; cause = cause.getCause()) {
      if (says(message, cause)
          || Stream.of(cause.getSuppressed()).anyMatch(one -> says(message, one))) {
        return true;
      }
    }
    return false;
  }

  private static boolean says(String message, Throwable failure) {
    return String.valueOf(failure.getMessage()).contains(message);
  }

  private static String ofNotReady(String fact, String reply) {
    if (reply.contains("MISCONF")) {
      return "let it save again: its log says why it cannot, and until then it refuses writes";
    }
    if (reply.contains("NOREPLICAS")) {
      return "connect the replicas that min-replicas-to-write requires, or lower it";
    }
    if (reply.contains("CLUSTERDOWN")
        || reply.contains("cluster is down")
        || reply.contains("slot not served")
        || fact.contains(" has slot ")) {
      return "give each slot of the cluster a master that runs";
    }
    if (reply.contains("LOADING")) {
      return "wait until it has loaded its data";
    }
    if (reply.contains("max number of clients")) {
      return "raise its maxclients, or lower LockTuning.maxConnections";
    }
    return "ask again when what it says has passed";
  }

  private static String ofMisconfigured(String reply) {
    if (reply.contains("MOVED") || reply.contains("ASK")) {
      return "name several of its nodes in the URI, or use redis-cluster://";
    }
    if (reply.contains("cluster support disabled")) {
      return "use redis://, with one host";
    }
    return reply.contains("DB index") || reply.contains("SELECT")
        ? "check the number at the end of the URI"
        : "correct the URI of the client";
  }

  private static String ofNotSupported(String fact) {
    return fact.contains("appendonly is disabled")
        ? "let the server write its append-only file (appendonly yes), or leave out the option"
        : "use a server that has this command, or leave out the option";
  }

  private static String ofAccessDenied(String fact, String reply) {
    if (reply.contains("protected mode")) {
      return "give the server a password or users, or connect from its own host";
    }
    if (reply.contains("WRONGPASS") || reply.contains("NOAUTH") || reply.contains("password")) {
      return fact.contains("of sentinels [") // the master's address, and that of its sentinels
          ? "correct user and password: those of the master in the URI of the client, those of the"
              + " sentinels in its ConnectionSecurity"
          : "correct user and password in the URI of the client";
    }
    return "give the user the rights of docs/wire.md, for the names of its locks";
  }
}
