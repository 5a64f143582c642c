package io.mortise.connection.topology;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import org.jspecify.annotations.Nullable;

/**
 * The record of whether one server answers commands, with a report of each change. An error is an
 * answer. A command that was not sent for another reason, such as a pool without a free connection,
 * says nothing about the server.
 *
 * <p><b>Threads.</b> Any thread may report the outcome of a command. The flag is volatile, so that
 * an outcome that changes nothing enters no monitor; the monitor orders the changes and their
 * reports.
 */
final class NodeReachability {
  private final String server;
  private final Topology.ReachabilityObserver observer;
  private volatile boolean unreachable;

  NodeReachability(String server, Topology.ReachabilityObserver observer) {
    this.server = server;
    this.observer = observer;
  }

  boolean isUnreachable() {
    return unreachable;
  }

  void answered() {
    if (unreachable) {
      change(false, null);
    }
  }

  /** Notes that a command has failed, after all repetitions. */
  void failed(CommandException fault) {
    if (fault.isServerReply()) {
      answered();
    } else if (fault.kind() == Kind.UNREACHABLE && !unreachable) {
      change(true, fault);
    }
  }

  private synchronized void change(boolean nowUnreachable, @Nullable CommandException fault) {
    if (unreachable != nowUnreachable) {
      unreachable = nowUnreachable;
      observer.changed(server, fault);
    }
  }
}
