package io.mortise.connection.command;

import io.mortise.connection.command.ReplicaAcknowledgement.AcknowledgementFailure;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.pool.Reply;
import io.mortise.connection.topology.Topology;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/**
 * Runs scripts: EVALSHA, and EVAL with the text when the server does not know the script, as after
 * a restart, a failover, or SCRIPT FLUSH. Does not remember which scripts a server knows.
 *
 * <p><b>Threads.</b> Any thread may call every method; the executor has no state of its own.
 */
public final class ScriptExecutor {
  private static final Logger LOG = LoggerFactory.getLogger(ScriptExecutor.class);

  private final Topology topology;
  private final ReplicaAcknowledgement acknowledgement;
  private final ScriptPipeline pipeline;
  private final long timeoutNanos;

  public ScriptExecutor(Topology topology, WorkerPool workers, ConnectionSettings settings) {
    this.topology = topology;
    this.acknowledgement = new ReplicaAcknowledgement(settings.durability());
    this.timeoutNanos = settings.commandTimeout().toNanos();
    this.pipeline = new ScriptPipeline(this, topology, workers);
  }

  /** Returns the time limit of a command whose caller has no shorter one. */
  public long timeoutNanos() {
    return timeoutNanos;
  }

  /** Returns the pipeline for many calls at a time. */
  public ScriptPipeline pipeline() {
    return pipeline;
  }

  /** Runs one call. */
  public Reply run(ScriptCall call, long withinNanos) throws CommandException {
    return run(ScriptRequest.of(call), withinNanos);
  }

  public Reply run(ScriptCall call) throws CommandException {
    return run(call, timeoutNanos);
  }

  /**
   * Makes an attempt. If the settings require acknowledgements, a grant without them is undone
   * before this throws.
   *
   * @param granted tests whether an answer is a grant
   * @param undo supplies the calls that undo the grant
   */
  public Reply attempt(
      ScriptRequest attempt,
      Predicate<Object> granted,
      Supplier<List<ScriptCall>> undo,
      long withinNanos)
      throws CommandException {
    if (!acknowledgement.isRequired()) {
      return run(attempt, withinNanos);
    }
    Reply reply =
        topology.exchange(
            slotOf(attempt),
            new AcknowledgedExchange(
                new ScriptExchange(attempt, topology),
                granted,
                acknowledgement,
                () -> undo.get().stream().map(this::exchangeOf).toList()),
            Math.min(withinNanos, timeoutNanos));
    if (reply.value() instanceof AcknowledgementFailure failure) {
      throw new CommandException(failure.kind(), reply.repeated(), failure.message(), null);
    }
    return reply;
  }

  /**
   * Checks that the server supports the required acknowledgements.
   *
   * @throws CommandException if it does not; not if the server cannot answer now
   */
  public void probeAcknowledgements() throws CommandException {
    if (acknowledgement.isRequired()) {
      try {
        topology.exchange(0, acknowledgement::probe, timeoutNanos);
      } catch (CommandException fault) {
        CommandException permanent = ReplicaAcknowledgement.permanentFailureOf(fault);
        if (permanent != null) {
          throw permanent;
        }
        LOG.warn(
            "the support of {} for WAIT could not be checked yet: {}",
            topology,
            fault.getMessage());
      }
    }
  }

  public Reply run(ScriptRequest request, long withinNanos) throws CommandException {
    return topology.exchange(
        slotOf(request),
        new ScriptExchange(request, topology),
        Math.min(withinNanos, timeoutNanos));
  }

  /** Runs a call that must not run twice; the exception says whether it may have run. */
  public Reply runAtMostOnce(ScriptCall call) throws CommandException {
    ScriptRequest request = ScriptRequest.of(call);
    return topology.exchangeAtMostOnce(
        slotOf(request), new ScriptExchange(request, topology), timeoutNanos);
  }

  private Exchange exchangeOf(ScriptCall call) {
    return new ScriptExchange(ScriptRequest.of(call), topology);
  }

  private int slotOf(ScriptRequest request) {
    return topology.slotOf(request.firstKey());
  }

  /** Returns whether one command can contain both calls. */
  public boolean haveOneSlot(ScriptCall call, ScriptCall other) {
    return slotOf(ScriptRequest.of(call)) == slotOf(ScriptRequest.of(other));
  }

  /** Returns the server that has the slot of the call, see {@link Topology#serverOf}. */
  Object serverOf(ScriptCall call) {
    return topology.serverOf(slotOf(ScriptRequest.of(call)));
  }

  /** Returns the section {@code server} of INFO; in a cluster, of one of its servers. */
  Object serverInfo() throws CommandException {
    return topology
        .exchange(
            0,
            (connection, deadline) ->
                connection.executeCommand(new CommandArguments(Command.INFO).add("server")),
            timeoutNanos)
        .value();
  }
}
