package io.mortise.core.internal.inspect;

import static io.mortise.scripts.ScriptCall.bytes;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.base.Ticker;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ErrorClassifier;
import io.mortise.connection.topology.Topology;
import io.mortise.core.LockOptions;
import io.mortise.core.ServerHealth.Finding;
import io.mortise.core.ServerHealth.Severity;
import io.mortise.core.spi.LockName;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The check of one server: what it says of itself, then a script and a subscription as locks use
 * them, on keys and a channel of its own.
 *
 * <p><b>Threads.</b> Immutable; each thread checks another server.
 */
final class ServerCheck {
  private static final Script PROBE = Script.load("client/probe");
  private static final int PROBE_LIFE_MILLIS = 5_000;

  /** How many hash tags are tried for one of a slot that the server has. */
  private static final int MAX_TAGS = 100_000;

  private static final String ALLOW =
      "give the user the rights of docs/wire.md, for the names of its locks";
  private static final String RECONNECT =
      "see whether the server runs, and whether host, port, user and TLS settings are right";

  private final String clientId;
  private final LockOptions options;
  private final Topology topology;
  private final ScriptExecutor commands;
  private final Ticker ticker;
  private final InstantSource clock;

  ServerCheck(
      String clientId,
      LockOptions options,
      Topology topology,
      ScriptExecutor commands,
      Ticker ticker,
      InstantSource clock) {
    this.clientId = clientId;
    this.options = options;
    this.topology = topology;
    this.commands = commands;
    this.ticker = ticker;
    this.clock = clock;
  }

  CheckedServer check(Topology.Server server) {
    List<Finding> findings = new ArrayList<>();
    ServerAnswers answers;
    try {
      Deadline deadline = Deadline.after(commands.timeoutNanos(), ticker);
      answers =
          (ServerAnswers)
              server
                  .exchange(
                      (connection, end) -> ServerAnswers.ask(connection, ticker, clock), deadline)
                  .value();
    } catch (CommandException fault) {
      return unreachable(server, fault);
    }
    if (answers.ping() instanceof JedisDataException refusal) {
      findings.add(
          HealthFinding.of(
              Severity.ERROR,
              "it refuses PING",
              ALLOW,
              ErrorClassifier.of(refusal, server.toString(), true)));
    }
    findings.addAll(HealthRules.findings(answers, options));
    probe(server, findings);
    return new CheckedServer(
        server.toString(),
        true,
        answers.info().field("redis_version"),
        answers.info().field("role"),
        answers.ping() instanceof JedisDataException
            ? Optional.empty()
            : Optional.of(Duration.ofNanos(answers.pingNanos())),
        answers.clockOffsetMillis().stream().mapToObj(Duration::ofMillis).findFirst(),
        findings);
  }

  /** A server that refuses the password answers too; it is of no use all the same. */
  private static CheckedServer unreachable(Topology.Server server, CommandException fault) {
    return new CheckedServer(
        server.toString(),
        fault.isServerReply(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        List.of(HealthFinding.of(Severity.ERROR, "it cannot be used", RECONNECT, fault)));
  }

  // ---- the rights

  private void probe(Topology.Server server, List<Finding> findings) {
    Optional<LockName> name = nameAt(server);
    if (name.isEmpty()) {
      findings.add(
          HealthFinding.of(
              Severity.INFO,
              "it has no slot, or its slots are not known: no lock was tried there",
              "ask again when the cluster has settled"));
      return;
    }
    String channel = name.get().derive("redisson_lock__channel");
    try {
      List<?> failed =
          (List<?>)
              commands
                  .run(
                      new ScriptCall(
                          PROBE,
                          List.of(
                              bytes(name.get().value()),
                              bytes(name.get().tokenKey()),
                              bytes(channel)),
                          List.of(ScriptCall.publish(), bytes(PROBE_LIFE_MILLIS))))
                  .value();
      for (int i = 0; i + 1 < failed.size(); i += 2) {
        findings.add(
            HealthFinding.of(
                Severity.ERROR,
                "a script fails at %s: %s".formatted(text(failed.get(i)), text(failed.get(i + 1))),
                ALLOW));
      }
    } catch (CommandException fault) {
      findings.add(scriptFailed(name.get(), fault));
    }
    subscribe(server, channel, findings);
  }

  /** A user who may use some names only may be right to be refused this one. */
  private static Finding scriptFailed(LockName name, CommandException fault) {
    boolean keysOnly =
        fault.kind() == Kind.ACCESS_DENIED
            && String.valueOf(fault.getMessage()).matches("(?is).*\\bkeys?\\b.*");
    return keysOnly
        ? HealthFinding.of(
            Severity.INFO,
            "whether the user may use the keys of its locks is not known: it may not use '%s'"
                .formatted(name),
            "set LockOptions.namespace to the beginning of the names that it may use",
            fault)
        : HealthFinding.of(Severity.ERROR, "it refuses a script", ALLOW, fault);
  }

  /** Returns a name in the client's namespace whose keys are at that server. */
  private Optional<LockName> nameAt(Topology.Server server) {
    return IntStream.range(0, MAX_TAGS)
        .mapToObj(i -> LockName.of(options, "mortise-ping:" + clientId + ":" + i))
        .filter(name -> topology.hasSlot(server, topology.slotOf(bytes(name.tokenKey()))))
        .filter(name -> topology.hasSlot(server, topology.slotOf(bytes(name.value()))))
        .findFirst();
  }

  /** Sends the first command of a subscription on a connection of its own, and reads one answer. */
  private void subscribe(Topology.Server server, String channel, List<Finding> findings) {
    CommandArguments subscription =
        new CommandArguments(topology.isSharded() ? Command.SSUBSCRIBE : Command.SUBSCRIBE)
            .add(channel);
    try (Connection connection = server.connect()) {
      connection.setSoTimeout(Math.toIntExact(options.commandTimeout().toMillis()));
      connection.sendCommand(subscription);
      // Over RESP3 the confirmation is a message, which Jedis may pass over; this has an answer.
      connection.sendCommand(new CommandArguments(Command.PING));
      connection.getOne();
    } catch (CommandException fault) {
      findings.add(notSubscribed(fault));
    } catch (RuntimeException e) {
      findings.add(notSubscribed(ErrorClassifier.of(e, server.toString(), true)));
    }
  }

  private static Finding notSubscribed(CommandException fault) {
    return HealthFinding.of(
        Severity.ERROR, "it refuses a subscription, so no release wakes a waiter", ALLOW, fault);
  }

  private static String text(Object value) {
    return new String((byte[]) value, UTF_8);
  }
}
