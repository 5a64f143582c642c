package io.mortise.core.internal;

import io.mortise.core.internal.Acknowledgements.Shortfall;
import io.mortise.core.spi.ScriptCall;
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
final class Commands {
  private static final Logger LOG = LoggerFactory.getLogger(Commands.class);

  private final Deployment servers;
  private final Acknowledgements acknowledgements;
  private final ManyCommands many;
  private final long timeoutNanos;

  Commands(Deployment servers, Workers workers, ConnectionSettings settings) {
    this.servers = servers;
    this.acknowledgements = new Acknowledgements(settings.durability());
    this.timeoutNanos = settings.commandTimeout().toNanos();
    this.many = new ManyCommands(this, servers, workers);
  }

  /** How long a command may take when its caller has no shorter limit. */
  long timeoutNanos() {
    return timeoutNanos;
  }

  /** For many calls at a time. */
  ManyCommands many() {
    return many;
  }

  /** Runs one call. */
  Reply run(ScriptCall call, long withinNanos) throws Fault {
    return run(Request.of(call), withinNanos);
  }

  Reply run(ScriptCall call) throws Fault {
    return run(call, timeoutNanos);
  }

  /**
   * Makes an attempt that counts only when it is acknowledged, if that is wanted; otherwise it is
   * undone before this throws.
   *
   * @param granted whether an answer is a grant
   * @param undo what takes the grant back
   */
  Reply attempt(
      Request attempt, Predicate<Object> granted, Supplier<List<ScriptCall>> undo, long withinNanos)
      throws Fault {
    if (!acknowledgements.areWanted()) {
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
      throw new Fault(shortfall.reason(), reply.repeated(), shortfall.message(), null);
    }
    return reply;
  }

  /**
   * Finds out whether the server can acknowledge as it is wanted.
   *
   * @throws Fault if it cannot; not if it cannot be asked now
   */
  void probeAcknowledgements() throws Fault {
    if (acknowledgements.areWanted()) {
      try {
        servers.exchange(0, acknowledgements::probe, timeoutNanos);
      } catch (Fault fault) {
        Fault lasting = Acknowledgements.lasting(fault);
        if (lasting != null) {
          throw lasting;
        }
        LOG.warn("{} could not be asked for WAIT yet: {}", servers, fault.getMessage());
      }
    }
  }

  Reply run(Request request, long withinNanos) throws Fault {
    return servers.exchange(
        slotOf(request), new ScriptExchange(request, servers), Math.min(withinNanos, timeoutNanos));
  }

  /** Runs a call that must not run twice; a fault says whether it may have run. */
  Reply runOnce(ScriptCall call) throws Fault {
    Request request = Request.of(call);
    return servers.exchangeOnce(
        slotOf(request), new ScriptExchange(request, servers), timeoutNanos);
  }

  private Exchange exchangeOf(ScriptCall call) {
    return new ScriptExchange(Request.of(call), servers);
  }

  private int slotOf(Request request) {
    return servers.slotOf(request.firstKey());
  }

  /** Whether the two can go in one command. */
  boolean haveOneSlot(ScriptCall call, ScriptCall other) {
    return slotOf(Request.of(call)) == slotOf(Request.of(other));
  }

  /** What has its slot, as far as it is known; see {@link Deployment#serverOf}. */
  Object serverOf(ScriptCall call) {
    return servers.serverOf(slotOf(Request.of(call)));
  }

  /** What the server says of itself; of a cluster, one of its servers. */
  Object serverInfo() throws Fault {
    return servers
        .exchange(
            0,
            (connection, deadline) ->
                connection.executeCommand(new CommandArguments(Command.INFO).add("server")),
            timeoutNanos)
        .value();
  }
}
