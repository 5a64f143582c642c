package io.mortise.core.internal.inspect;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.ErrorClassifier;
import io.mortise.connection.topology.Topology;
import io.mortise.core.LockOptions;
import io.mortise.core.ServerHealth.Check;
import io.mortise.core.internal.lease.Remedies;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The check of one server: what it says of itself, then what a lock does there. All parts have one
 * deadline; those for which no time is left are not tried.
 *
 * <p><b>Threads.</b> Immutable; each thread checks another server.
 */
record ServerCheck(LockOptions options, LockProbe probe, Ticker ticker, InstantSource clock) {

  CheckedServer check(Topology.Server server, Deadline deadline) {
    CheckResults results = new CheckResults();
    ServerAnswers answers;
    try {
      answers =
          (ServerAnswers)
              server
                  .exchange(
                      (connection, end) -> ServerAnswers.ask(connection, end, ticker, clock),
                      deadline)
                  .value();
    } catch (CommandException fault) {
      // A server that refuses the password answers too; it is of no use all the same.
      return CheckedServer.unknown(
          server.toString(),
          fault.isServerReply(),
          HealthFinding.of(Check.CONNECTION, "it cannot be used", fault));
    }
    Optional<Duration> roundTrip = ping(server, answers, results);
    HealthRules.judge(answers, options, results);
    if (deadline.hasPassed()) {
      results.error(
          Check.ROUND_TRIP,
          "it took all of %d ms for the first questions: no lock was tried"
              .formatted(options.commandTimeout().toMillis()),
          Remedies.SILENCE);
    } else {
      probe.run(server, deadline, results);
    }
    return new CheckedServer(
        server.toString(),
        true,
        answers.info().field("redis_version"),
        answers.info().field("role"),
        roundTrip,
        answers.clockOffsetMillis().stream().mapToObj(Duration::ofMillis).findFirst(),
        results.findings(),
        results.facts());
  }

  /** Returns the round trip, if the user may ask for it. */
  private Optional<Duration> ping(
      Topology.Server server, ServerAnswers answers, CheckResults results) {
    if (answers.ping() instanceof JedisDataException refusal) {
      results.add(
          HealthFinding.of(
              Check.CONNECTION,
              "it refuses PING",
              ErrorClassifier.of(refusal, server.toString(), true)));
      return Optional.empty();
    }
    results.fact(Check.CONNECTION, "it answers");
    return Optional.of(Duration.ofNanos(answers.pingNanos()));
  }
}
