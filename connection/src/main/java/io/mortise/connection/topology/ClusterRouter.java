package io.mortise.connection.topology;

import static com.google.common.util.concurrent.Uninterruptibles.sleepUninterruptibly;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.pool.Reply;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;

/**
 * Sends each exchange to the master of its slot, and follows the redirections of the nodes.
 *
 * <p>The cluster client of Jedis would repeat a command without an answer as often as it decides.
 * Here a command is sent again only when a node has answered that it has not run the command, or by
 * the rules of {@link RedisNode}.
 *
 * <pre>
 *   MOVED      send to the named node at once; then fetch the slot map
 *   ASK        send to the named node, this time only, behind ASKING
 *   TRYAGAIN   send again after a pause: the keys of the slot are moving
 *   broken     fetch the slot map; if another node has the slot now, send to that node
 * </pre>
 *
 * <p><b>Threads.</b> Any thread may call {@code exchange}. Nothing changes here; the slot map and
 * the nodes are thread-safe.
 */
record ClusterRouter(ClusterNodes nodes, SlotMapCache slotMap) {
  private static final int MAX_REDIRECTIONS = 8;
  private static final long TRY_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /** With less time nothing is sent again: a missing answer is a failure of another kind. */
  private static final long MIN_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** Runs an exchange at the master of the slot, twice only if it is repeatable. */
  Reply exchange(int slot, Exchange exchange, Deadline deadline, boolean repeatable)
      throws CommandException {
    RoutedExchange current = new RoutedExchange(nodeOf(slot, deadline), exchange);
    CommandException before = null;
    CommandException migration = null;
    int redirections = 0;
    while (true) {
      try {
        Reply reply =
            repeatable
                ? current.node.exchange(current.exchange, deadline)
                : current.node.exchangeAtMostOnce(current.exchange, deadline);
        return reply.after(before);
      } catch (CommandException fault) {
        CommandException all = fault.afterEarlier(before);
        Redirection redirection = Redirection.of(fault.getCause());
        if (redirection instanceof Redirection.TryAgain) {
          migration = fault;
        }
        boolean maySendAgain = repeatable || !all.mayHaveExecuted();
        RoutedExchange next =
            maySendAgain ? next(current.node, slot, exchange, fault, deadline) : null;
        // The wait for moving keys ends with the time limit.
        redirections = redirection instanceof Redirection.TryAgain ? 0 : redirections + 1;
        if (next == null || redirections > MAX_REDIRECTIONS || deadline.hasPassed()) {
          if (!maySendAgain) {
            slotMap.refreshSoon();
          }
          // A command without an answer because the time ended had an answer before.
          boolean late = fault.isTimeOut() && !fault.isUndoUnanswered() && deadline.hasPassed();
          throw failureOf(current.node, late && migration != null ? migration : fault, all);
        }
        before = all.mayHaveExecuted() ? all : null;
        current = next;
      }
    }
  }

  private record RoutedExchange(RedisNode node, Exchange exchange) {}

  /** Returns what to send next; null when no other node can run the exchange now. */
  private @Nullable RoutedExchange next(
      RedisNode current, int slot, Exchange exchange, CommandException fault, Deadline deadline) {
    Redirection redirection = Redirection.of(fault.getCause());
    try {
      if (redirection instanceof Redirection.Moved moved) {
        slotMap.refreshSoon();
        return new RoutedExchange(nodes.at(moved.to(), current), exchange);
      }
      if (redirection instanceof Redirection.Ask ask) {
        return new RoutedExchange(nodes.at(ask.to(), current), exchange.asking());
      }
      if (redirection != null) {
        boolean last = deadline.leftNanos() < TRY_AGAIN_NANOS + MIN_NANOS;
        Deadline end = last ? deadline : deadline.within(TRY_AGAIN_NANOS);
        sleepUninterruptibly(end.leftNanos(), TimeUnit.NANOSECONDS);
        return last ? null : new RoutedExchange(nodeOf(slot, deadline), exchange);
      }
      if (fault.kind() == Kind.CLIENT_CLOSED && !nodes.isClosed()) {
        return new RoutedExchange(
            nodeOf(slot, deadline), exchange); // that node has left the cluster
      }
      if (fault.isBrokenConnection()) {
        var unused = slotMap.fetchUnlessNewer(slotMap.current(), deadline);
        RedisNode now = nodeOf(slot, deadline);
        return now == current ? null : new RoutedExchange(now, exchange);
      }
    } catch (CommandException noNodeAnswers) {
      fault.addSuppressed(noNodeAnswers);
      return null;
    }
    if (fault.kind() == Kind.UNREACHABLE || fault.kind() == Kind.NOT_READY) {
      slotMap.refreshSoon();
    }
    return null;
  }

  /**
   * Returns the failure to throw. A redirection that leads nowhere is no error of the script, but a
   * transient one; so is a node that has left the cluster, whose connections are closed, when no
   * time is left to ask another one.
   *
   * @param node the node that was asked last
   * @param reported the last failure, or the redirection before it
   * @param all the last failure, after all earlier ones
   */
  private CommandException failureOf(
      RedisNode node, CommandException reported, CommandException all) {
    Throwable refusal = reported.getCause();
    if (reported.kind() == Kind.CLIENT_CLOSED && !nodes.isClosed()) {
      CommandException left =
          new CommandException(
              Kind.UNREACHABLE, false, "%s has left the %s".formatted(node, nodes), refusal);
      return left.afterEarlier(all.mayHaveExecuted() ? all : null);
    }
    if (refusal == null || Redirection.of(refusal) == null) {
      return all;
    }
    CommandException moving =
        new CommandException(
            Kind.NOT_READY,
            false,
            "the keys of the lock are on their way to another node of the %s (it says: %s)"
                .formatted(nodes, refusal.getMessage()),
            refusal);
    return moving.afterEarlier(all.mayHaveExecuted() ? all : null);
  }

  private RedisNode nodeOf(int slot, Deadline deadline) throws CommandException {
    SlotMap known = slotMap.current();
    HostAndPort master = known == null ? null : known.masterOf(slot);
    if (master == null) {
      master = slotMap.fetchUnlessNewer(known, deadline).masterOf(slot);
    }
    if (master == null) {
      throw new CommandException(
          Kind.NOT_READY,
          false,
          "no node of the %s has slot %d; give each slot a master that runs".formatted(nodes, slot),
          null);
    }
    return nodes.at(master);
  }
}
