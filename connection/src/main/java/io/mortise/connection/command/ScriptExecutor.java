package io.mortise.connection.command;

import io.mortise.connection.command.ReplicaAcknowledgement.Shortfall;
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
 * a restart, a failover, or SCRIPT FLUSH. Nothing is remembered about what a server knows.
 */
public final class ScriptExecutor {
  private static final Logger LOG = LoggerFactory.getLogger(ScriptExecutor.class);

  private final Topology servers;
  private final ReplicaAcknowledgement acknowledgements;
  private final ScriptPipeline many;
  private final long timeoutNanos;

  public ScriptExecutor(Topology servers, WorkerPool workers, ConnectionSettings settings) {
    this.servers = servers;
    this.acknowledgements = new ReplicaAcknowledgement(settings.durability());
    this.timeoutNanos = settings.commandTimeout().toNanos();
    this.many = new ScriptPipeline(this, servers, workers);
  }

  /** How long a command may take when its caller has no shorter limit. */
  public long timeoutNanos() {
    return timeoutNanos;
  }

  /** For many calls at a time. */
  public ScriptPipeline pipeline() {
    return many;
  }

  /** Runs one call. */
  public Reply run(ScriptCall call, long withinNanos) throws CommandException {
    return run(ScriptRequest.of(call), withinNanos);
  }

  public Reply run(ScriptCall call) throws CommandException {
    return run(call, timeoutNanos);
  }

  /**
   * Makes an attempt that counts only when it is acknowledged, if that is wanted; otherwise it is
   * undone before this throws.
   *
   * @param granted whether an answer is a grant
   * @param undo what takes the grant back
   */
  public Reply attempt(
      ScriptRequest attempt,
      Predicate<Object> granted,
      Supplier<List<ScriptCall>> undo,
      long withinNanos)
      throws CommandException {
    if (!acknowledgements.isRequired()) {
      return run(attempt, withinNanos);
    }
    Reply reply =
        servers.exchange(
            slotOf(attempt),
            new AcknowledgedExchange(
                new ScriptExchange(attempt, servers),
                granted,
                acknowledgements,
                () -> undo.get().stream().map(this::exchangeOf).toList()),
            Math.min(withinNanos, timeoutNanos));
    if (reply.value() instanceof Shortfall shortfall) {
      throw new CommandException(shortfall.reason(), reply.repeated(), shortfall.message(), null);
    }
    return reply;
  }

  /**
   * Finds out whether the server can acknowledge as it is wanted.
   *
   * @throws CommandException if it cannot; not if it cannot be asked now
   */
  public void probeAcknowledgements() throws CommandException {
    if (acknowledgements.isRequired()) {
      try {
        servers.exchange(0, acknowledgements::probe, timeoutNanos);
      } catch (CommandException fault) {
        CommandException lasting = ReplicaAcknowledgement.permanentFailureOf(fault);
        if (lasting != null) {
          throw lasting;
        }
        LOG.warn("{} could not be asked for WAIT yet: {}", servers, fault.getMessage());
      }
    }
  }

  public Reply run(ScriptRequest request, long withinNanos) throws CommandException {
    return servers.exchange(
        slotOf(request), new ScriptExchange(request, servers), Math.min(withinNanos, timeoutNanos));
  }

  /** Runs a call that must not run twice; a fault says whether it may have run. */
  public Reply runAtMostOnce(ScriptCall call) throws CommandException {
    ScriptRequest request = ScriptRequest.of(call);
    return servers.exchangeAtMostOnce(
        slotOf(request), new ScriptExchange(request, servers), timeoutNanos);
  }

  private Exchange exchangeOf(ScriptCall call) {
    return new ScriptExchange(ScriptRequest.of(call), servers);
  }

  private int slotOf(ScriptRequest request) {
    return servers.slotOf(request.firstKey());
  }

  /** Whether the two can go in one command. */
  public boolean haveOneSlot(ScriptCall call, ScriptCall other) {
    return slotOf(ScriptRequest.of(call)) == slotOf(ScriptRequest.of(other));
  }

  /** What has its slot, as far as it is known; see {@link Topology#serverOf}. */
  Object serverOf(ScriptCall call) {
    return servers.serverOf(slotOf(ScriptRequest.of(call)));
  }

  /** What the server says of itself; of a cluster, one of its servers. */
  Object serverInfo() throws CommandException {
    return servers
        .exchange(
            0,
            (connection, deadline) ->
                connection.executeCommand(new CommandArguments(Command.INFO).add("server")),
            timeoutNanos)
        .value();
  }
}
