package io.mortise.core.internal.engine;

import io.mortise.connection.concurrent.OperationCounter;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.internal.event.EventQueue;
import io.mortise.core.internal.lease.BackgroundReleaser;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.scripts.ScriptCall;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes a client, within its command timeout. Waiters leave first: an attempt that is under way
 * may still be granted, and its acquisition then releases it. Then all holds are released, except
 * those whose owner is already releasing them; pending background releases are tried once more.
 * Threads and connections are closed last; the events go after the threads that make them.
 *
 * <p><b>Threads.</b> Confined to the thread that closes the client.
 */
final class ClientShutdown {
  private static final Logger LOG = LoggerFactory.getLogger(ClientShutdown.class);

  private final ClientContext context;
  private final LeaseContext leases;
  private final long timeoutNanos;
  private final long deadlineNanos;

  ClientShutdown(ClientContext context) {
    this.context = context;
    this.leases = context.leases();
    this.timeoutNanos = leases.commands().timeoutNanos();
    this.deadlineNanos = leases.nanos() + timeoutNanos;
  }

  /**
   * Runs all steps, whatever error one of them ends with: a client cannot be closed twice, and a
   * scheduler that goes on would renew holds for ever.
   */
  void run() {
    try {
      context.acquisitions().queues().close();
      context.acquisitions().subscriptions().close();
      releaseAll();
      context.record.remove(leftNanos());
    } finally {
      try {
        leases.scheduler().close();
      } finally {
        try {
          endThreads();
        } finally {
          try {
            context.servers.close();
          } finally {
            runDelayed();
          }
        }
      }
    }
  }

  /** The last step: a listener that is notified here may block. */
  private void runDelayed() {
    try {
      leases.tasks().runDelayed();
    } finally {
      leases.scheduler().clear();
    }
  }

  private void endThreads() {
    context.sources.workers().close(this::leftNanos);
    leases.releases().stop();
    EventQueue events = leases.events().queue();
    if (events != null) {
      events.close(Math.max(0, leftNanos()));
    }
  }

  private void releaseAll() {
    OperationCounter operations = leases.operations();
    BackgroundReleaser releases = leases.releases();
    operations.awaitZero(timeoutNanos / 2); // the other half is for the holds
    List<ScriptCall> calls = new ArrayList<>(leases.holds().loseAll());
    calls.addAll(releases.takeAll());
    send(calls);
    operations.awaitZero(leftNanos());
    send(releases.takeAll()); // of operations that were still under way
  }

  /**
   * Sends all releases together, with the texts of their scripts. A server that hangs finds those
   * that were written before the first reply when it goes on, even if no thread waits for that
   * long. These are about 16 KiB, because a write has no time limit: of more holds than that, the
   * rest ends with the leases.
   */
  private void send(List<ScriptCall> calls) {
    List<CommandException> faults =
        leases.commands().pipeline().runAllByText(calls, leftNanos()).stream()
            .flatMap(answer -> Stream.ofNullable(answer.fault()))
            .toList();
    if (!faults.isEmpty()) {
      LOG.warn(
          "client {} was closed, and the release of {} holds or places in queues was not confirmed;"
              + " they end by themselves at the latest: {}",
          context.sources.clientId(),
          faults.size(),
          faults.get(0).getMessage());
    }
  }

  private long leftNanos() {
    return deadlineNanos - leases.nanos();
  }
}
