package io.mortise.connection.command;

import com.google.common.base.Ticker;
import io.mortise.connection.command.ReplicaAcknowledgement.AcknowledgementFailure;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.pool.Reply;
import io.mortise.connection.pool.ServerInfo;
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
  private final Ticker ticker;

  public ScriptExecutor(Topology topology, WorkerPool workers, ConnectionSettings settings) {
    this.topology = topology;
    this.acknowledgement = new ReplicaAcknowledgement(settings.durability());
    this.timeoutNanos = settings.commandTimeout().toNanos();
    this.ticker = settings.ticker();
    this.pipeline = new ScriptPipeline(topology, workers, settings);
  }

  /** Returns the time limit of a command whose caller has no shorter one. */
  public long timeoutNanos() {
    return timeoutNanos;
  }

  /** Returns the pipeline for many calls at a time. */
  public ScriptPipeline pipeline() {
    return pipeline;
  }

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
            attempt.slot(topology),
            new AcknowledgedExchange(
                exchangeOf(attempt), granted, acknowledgement, () -> exchangesOf(undo.get())),
            deadline(withinNanos));
    if (reply.value() instanceof AcknowledgementFailure failure) {
      throw new CommandException(failure.kind(), false, failure.message() + "; it was undone", null)
          .afterEarlier(reply.before());
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
        topology.exchange(0, acknowledgement::probe, deadline(timeoutNanos));
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

  /**
   * Checks that one server can acknowledge writes as the options want it.
   *
   * @throws CommandException if it cannot, or does not answer
   */
  public void probeAcknowledgements(Topology.Server server, Deadline deadline)
      throws CommandException {
    if (acknowledgement.isRequired()) {
      try {
        var unused = server.exchange(acknowledgement::probe, deadline);
      } catch (CommandException fault) {
        CommandException permanent = ReplicaAcknowledgement.permanentFailureOf(fault);
        throw permanent == null ? fault : permanent;
      }
    }
  }

  private Reply run(ScriptRequest request, long withinNanos) throws CommandException {
    return exchangeOf(request).run(deadline(withinNanos));
  }

  /** Runs a call that must not run twice; the exception says whether it may have run. */
  public Reply runAtMostOnce(ScriptCall call) throws CommandException {
    ScriptRequest request = ScriptRequest.of(call);
    return topology.exchangeAtMostOnce(
        request.slot(topology), exchangeOf(request), deadline(timeoutNanos));
  }

  private ScriptExchange exchangeOf(ScriptRequest request) {
    return new ScriptExchange(request, topology);
  }

  private List<Exchange> exchangesOf(List<ScriptCall> calls) {
    return calls.stream().<Exchange>map(call -> exchangeOf(ScriptRequest.of(call))).toList();
  }

  /** Returns the deadline of a command whose caller has that much time. */
  private Deadline deadline(long withinNanos) {
    return Deadline.after(Math.min(withinNanos, timeoutNanos), ticker);
  }

  private int slotOf(ScriptCall call) {
    return ScriptRequest.of(call).slot(topology);
  }

  /** Returns whether one command can contain both calls. */
  public boolean haveOneSlot(ScriptCall call, ScriptCall other) {
    return slotOf(call) == slotOf(other);
  }

  /** Returns the server that has the slot of the call, see {@link Topology#serverOf}. */
  public Object serverOf(ScriptCall call) {
    return topology.serverOf(slotOf(call));
  }

  /** Runs commands that are no script, at the server that has the key. */
  public Reply exchange(byte[] key, Exchange exchange, long withinNanos) throws CommandException {
    return topology.exchange(topology.slotOf(key), exchange, deadline(withinNanos));
  }

  /** Returns the section {@code server} of INFO; in a cluster, of one of its servers. */
  ServerInfo serverInfo(long withinNanos) throws CommandException {
    Reply reply =
        topology.exchange(
            0,
            (connection, deadline) ->
                connection.executeCommand(new CommandArguments(Command.INFO).add("server")),
            deadline(withinNanos));
    return ServerInfo.of(reply.value());
  }
}
