package io.mortise.core.internal.inspect;

import io.mortise.connection.pool.CommandException;

/**
 * The remedy for each kind of fault.
 *
 * <p><b>Threads.</b> Stateless; any thread may call any method.
 */
final class Remedies {
  private Remedies() {}

  static String of(CommandException fault) {
    return switch (fault.kind()) {
      case UNREACHABLE ->
          fault.isTimeOut()
              ? "look at the load of the server and at the network, or raise"
                  + " LockOptions.commandTimeout"
              : "see whether the server runs, and whether host, port and TLS settings are right";
      case NOT_READY -> ofNotReady(reply(fault));
      case READ_ONLY -> "name its master, or the sentinels that watch it";
      case OUT_OF_MEMORY ->
          "raise maxmemory, or delete keys: a server that may not evict refuses writes when it is"
              + " full";
      case NOT_REPLICATED -> "connect more replicas, or require fewer acknowledgements";
      case POOL_EXHAUSTED ->
          "raise LockTuning.maxConnections, or the size of the pool of your Jedis client";
      case ACCESS_DENIED -> ofAccessDenied(reply(fault));
      case CERTIFICATE_REJECTED -> "name the host of the certificate, and trust its issuer";
      case MISCONFIGURED -> "correct the URI of the client";
      case WRONG_TYPE -> "give the locks a namespace that nothing else uses";
      case NOT_SUPPORTED -> "use a server that has this command, or leave out the option";
      case SCRIPT ->
          "use a Redis or Valkey that runs Lua scripts, without a proxy that changes them";
      case CLIENT_CLOSED -> "ask before the client is closed";
    };
  }

  /** Returns what the server replied; empty when it did not. */
  private static String reply(CommandException fault) {
    Throwable reply = fault.getCause();
    return reply == null ? "" : String.valueOf(reply.getMessage());
  }

  private static String ofNotReady(String reply) {
    if (reply.contains("MISCONF")) {
      return "let it save again: its log says why it cannot, and until then it refuses writes";
    }
    if (reply.contains("NOREPLICAS")) {
      return "connect the replicas that min-replicas-to-write requires, or lower it";
    }
    if (reply.contains("CLUSTERDOWN")) {
      return "give each slot of the cluster a master that runs";
    }
    if (reply.contains("LOADING")) {
      return "wait until it has loaded its data";
    }
    return "ask again when what it says has passed";
  }

  private static String ofAccessDenied(String reply) {
    if (reply.contains("protected mode")) {
      return "give the server a password or users, or connect from its own host";
    }
    return reply.contains("WRONGPASS") || reply.contains("NOAUTH") || reply.contains("password")
        ? "correct user and password in the URI of the client"
        : "give the user the rights of docs/wire.md, for the names of its locks";
  }
}
