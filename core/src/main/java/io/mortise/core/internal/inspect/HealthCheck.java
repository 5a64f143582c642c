package io.mortise.core.internal.inspect;

import com.google.common.base.Ticker;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.topology.Topology;
import io.mortise.core.LockOptions;
import io.mortise.core.ServerHealth;
import io.mortise.core.ServerHealth.Check;
import io.mortise.core.ServerHealth.Server;
import io.mortise.core.ServerHealth.Severity;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The check of all servers of a client, at the same time.
 *
 * <p><b>Threads.</b> Any thread may call {@code run}; each server is checked on a worker, which no
 * interrupt of the caller reaches.
 */
public final class HealthCheck {
  private final Topology topology;
  private final WorkerPool workers;
  private final ServerCheck check;
  private final long timeoutNanos;
  private final Ticker ticker;

  private record Report(List<Server> servers) implements ServerHealth {

    @Override
    public Severity severity() {
      return servers.stream()
          .flatMap(server -> server.findings().stream())
          .map(Finding::severity)
          .max(Severity::compareTo)
          .orElse(Severity.OK);
    }

    @Override
    public boolean isReachable() {
      return servers.stream().allMatch(Server::isReachable);
    }

    @Override
    public String toString() {
      return servers.stream()
          .map(Server::toString)
          .collect(Collectors.joining("\n", severity() + "\n", ""));
    }
  }

  public HealthCheck(
      String clientId,
      LockOptions options,
      Topology topology,
      ScriptExecutor commands,
      WorkerPool workers,
      Ticker ticker,
      InstantSource clock) {
    this.topology = topology;
    this.workers = workers;
    this.check =
        new ServerCheck(
            options, new LockProbe(clientId, options, topology, commands), ticker, clock);
    this.timeoutNanos = commands.timeoutNanos();
    this.ticker = ticker;
  }

  /** Checks all servers, within one command timeout. An interrupt does not end it, and is kept. */
  public ServerHealth run() {
    topology.refresh(); // an idle client has not followed a failover
    List<Topology.Server> servers = topology.servers();
    Deadline deadline = Deadline.after(timeoutNanos, ticker);
    List<CompletableFuture<CheckedServer>> checks =
        servers.stream().map(server -> start(server, deadline)).toList();
    List<CheckedServer> checked =
        IntStream.range(0, checks.size())
            .mapToObj(i -> await(servers.get(i), checks.get(i)))
            .toList();
    return new Report(List.copyOf(HealthRules.compareClocks(checked)));
  }

  private CompletableFuture<CheckedServer> start(Topology.Server server, Deadline deadline) {
    try {
      return CompletableFuture.supplyAsync(
          () -> check.check(server, deadline),
          task -> {
            var unused = workers.submitBlocking(task);
          });
    } catch (RejectedExecutionException closed) {
      return CompletableFuture.failedFuture(closed);
    }
  }

  private static CheckedServer await(
      Topology.Server server, CompletableFuture<CheckedServer> check) {
    try {
      return check.join();
    } catch (CompletionException e) {
      return CheckedServer.unknown(
          server.toString(),
          false,
          HealthFinding.of(
              Check.CONNECTION,
              Severity.ERROR,
              "the check failed: " + e.getCause(),
              "look at the client's log"));
    }
  }
}
