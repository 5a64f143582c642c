package io.mortise.core.internal.inspect;

import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.text;

import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ErrorClassifier;
import io.mortise.connection.topology.Topology;
import io.mortise.core.LockOptions;
import io.mortise.core.ServerHealth.Check;
import io.mortise.core.ServerHealth.Finding;
import io.mortise.core.ServerHealth.Severity;
import io.mortise.core.spi.LockName;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Tries at one server the commands of a lock, on keys and a channel of its own: in a script, each
 * command separately, in a subscription, and the acknowledgements that the options want.
 *
 * <p><b>Threads.</b> Immutable; each thread probes another server.
 */
record LockProbe(String clientId, LockOptions options, Topology topology, ScriptExecutor commands) {
  private static final Script PROBE = Script.load("client/probe");
  private static final Script INSPECT = Script.load("lock/inspect");
  private static final int PROBE_LIFE_MILLIS = 5_000;

  void run(Topology.Server server, Deadline deadline, CheckResults results) {
    Optional<LockName> name =
        ProbeNames.find(options, clientId, candidate -> isAt(server, candidate));
    if (name.isPresent()) {
      tryCommands(server, name.get(), deadline, results);
      subscribe(server, channel(name.get()), deadline, results);
    } else {
      runElsewhere(deadline, results);
    }
    tryAcknowledgements(server, deadline, results);
  }

  /** A master without slots may be new, or its cluster may be down and refuse all locks. */
  private void runElsewhere(Deadline deadline, CheckResults results) {
    LockName name = ProbeNames.any(options, clientId);
    try {
      var unused = runScript(name, deadline);
      if (ProbeNames.isPinned(options)) {
        results.fact(
            Check.COMMANDS, "no lock of the namespace is at this master, so none was tried");
      } else {
        results.info(
            Check.COMMANDS,
            "it has no slot, or its slots are not known: no lock was tried there",
            "ask again when the cluster has settled");
      }
    } catch (CommandException fault) {
      results.add(
          scriptFailed(
              name, deadline, fault, "no lock was tried there, and the cluster runs no script"));
    }
  }

  private void tryAcknowledgements(
      Topology.Server server, Deadline deadline, CheckResults results) {
    try {
      commands.probeAcknowledgements(server, deadline);
    } catch (CommandException fault) {
      results.add(
          HealthFinding.of(
              Check.REPLICATION,
              "it does not acknowledge writes as LockOptions.acknowledgement wants",
              fault));
    }
  }

  private boolean isAt(Topology.Server server, LockName name) {
    return topology.hasSlot(server, topology.slotOf(bytes(name.value())));
  }

  private static String channel(LockName name) {
    return name.derive("redisson_lock__channel");
  }

  // ---- the script

  /** Returns the commands that failed, each followed by its error. */
  private List<?> runScript(LockName name, Deadline deadline) throws CommandException {
    ScriptCall probe =
        new ScriptCall(
            PROBE,
            List.of(
                bytes(name.value()),
                bytes(name.tokenKey()),
                bytes(channel(name)),
                bytes(name.waitersKey()),
                bytes(name.forcedKey())),
            List.of(ScriptCall.publish(), bytes(PROBE_LIFE_MILLIS)));
    return (List<?>) commands.run(probe, deadline.leftNanos()).value();
  }

  private void tryCommands(
      Topology.Server server, LockName name, Deadline deadline, CheckResults results) {
    try {
      List<?> failed = runScript(name, deadline);
      if (failed.isEmpty()) {
        results.fact(Check.COMMANDS, "a script did all that a plain lock needs");
      }
      commandsFailed(server, failed, results);
    } catch (CommandException fault) {
      results.add(
          scriptFailed(
              name,
              deadline,
              fault,
              fault.isServerReply() ? "it refuses a script" : "a script was not answered"));
    }
  }

  /** Adds one finding for each kind of error, however many commands have it. */
  private static void commandsFailed(Topology.Server server, List<?> failed, CheckResults results) {
    Map<Kind, String> failing = new TreeMap<>();
    Map<Kind, CommandException> first = new TreeMap<>();
    for (int i = 0; i + 1 < failed.size(); i += 2) {
      CommandException fault =
          ErrorClassifier.of(
              new JedisDataException(text(failed.get(i + 1))), server.toString(), true);
      failing.merge(fault.kind(), text(failed.get(i)), (before, next) -> before + ", " + next);
      first.putIfAbsent(fault.kind(), fault);
    }
    first.forEach(
        (kind, fault) ->
            results.add(
                HealthFinding.of(Check.COMMANDS, "a script fails at " + failing.get(kind), fault)));
  }

  /** A user who may use some names only may be right to be refused this one. */
  private Finding scriptFailed(
      LockName name, Deadline deadline, CommandException fault, String problem) {
    boolean keysOnly =
        fault.kind() == Kind.ACCESS_DENIED
            && String.valueOf(fault.getMessage()).matches("(?is).*\\bkeys?\\b.*");
    if (!keysOnly) {
      return HealthFinding.of(Check.COMMANDS, problem, fault);
    }
    return mayUseName(name, deadline)
        ? HealthFinding.of(
            Check.COMMANDS,
            Severity.ERROR,
            "the user may use '%s', and not all keys that belong to a lock of that name"
                .formatted(name),
            "allow the keys that docs/wire.md names under Rights:"
                + " ~redisson_lock_token:* ~mortise_forced:* ~mortise_waiters:*"
                + " ~redisson_lock__channel:*",
            fault)
        : HealthFinding.of(
            Check.COMMANDS,
            Severity.INFO,
            "whether the user may use the keys of its locks is not known: it may not use '%s'"
                .formatted(name),
            "set LockOptions.namespace to the beginning of the names that it may use",
            fault);
  }

  /** Returns whether the user may use the key of the lock itself; false if that is not known. */
  private boolean mayUseName(LockName name, Deadline deadline) {
    try {
      var unused =
          commands.run(
              new ScriptCall(INSPECT, List.of(bytes(name.value())), List.of()),
              deadline.leftNanos());
      return true;
    } catch (CommandException fault) {
      return false;
    }
  }

  // ---- the subscription

  /** Sends the first command of a subscription on a connection of its own, and reads one answer. */
  private void subscribe(
      Topology.Server server, String channel, Deadline deadline, CheckResults results) {
    CommandArguments subscription =
        new CommandArguments(topology.isSharded() ? Command.SSUBSCRIBE : Command.SUBSCRIBE)
            .add(channel);
    try (Connection connection = server.connect(deadline)) {
      connection.setSoTimeout(deadline.leftMillis());
      connection.sendCommand(subscription);
      // Over RESP3 the confirmation is a message, which Jedis may pass over; this has an answer.
      connection.sendCommand(new CommandArguments(Command.PING));
      connection.getOne();
      results.fact(
          Check.MESSAGES,
          topology.isSharded() ? "it takes subscriptions, sharded" : "it takes subscriptions");
      if (topology.clusterId(Long.MAX_VALUE).isPresent() && !topology.isSharded()) {
        results.info(
            Check.MESSAGES,
            "each release is a message to all nodes of the cluster: not every master has sharded"
                + " channels",
            "use Redis 7 or later on all nodes");
      }
    } catch (CommandException fault) {
      results.add(notSubscribed(fault));
    } catch (RuntimeException e) {
      results.add(notSubscribed(ErrorClassifier.of(e, server.toString(), true)));
    }
  }

  private static Finding notSubscribed(CommandException fault) {
    return HealthFinding.of(
        Check.MESSAGES,
        fault.isServerReply()
            ? "it refuses a subscription, so no release wakes a waiter"
            : "a subscription was not confirmed; without one no release wakes a waiter",
        fault);
  }
}
