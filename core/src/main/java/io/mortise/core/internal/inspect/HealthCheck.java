package io.mortise.core.internal.inspect;

import com.google.common.base.Ticker;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.topology.Topology;
import io.mortise.core.LockOptions;
import io.mortise.core.ServerHealth;
import io.mortise.core.ServerHealth.Severity;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.IntStream;

/**
 * The check of all servers of a client, at the same time.
 *
 * <p><b>Threads.</b> Any thread may call {@code run}; each server is checked on a worker, a single
 * one on the caller's thread.
 */
public final class HealthCheck {
  private final Topology topology;
  private final WorkerPool workers;
  private final ServerCheck check;

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
    this.check = new ServerCheck(clientId, options, topology, commands, ticker, clock);
  }

  /** Checks all servers. An interrupt does not end it; the status is kept. */
  public ServerHealth run() {
    topology.refresh(); // an idle client has not followed a failover
    List<Topology.Server> servers = topology.servers();
    if (servers.size() == 1) {
      return new CheckedServers(List.of(check.check(servers.get(0))));
    }
    List<CompletableFuture<CheckedServer>> checks = servers.stream().map(this::start).toList();
    return new CheckedServers(
        IntStream.range(0, checks.size())
            .<ServerHealth.Server>mapToObj(i -> await(servers.get(i), checks.get(i)))
            .toList());
  }

  private CompletableFuture<CheckedServer> start(Topology.Server server) {
    CompletableFuture<CheckedServer> result = new CompletableFuture<>();
    try {
      var unused =
          workers.submitBlocking(
              () -> {
                try {
                  result.complete(check.check(server));
                } catch (Throwable e) {
                  result.completeExceptionally(e);
                  throw e;
                }
              });
    } catch (RejectedExecutionException closed) {
      result.completeExceptionally(closed);
    }
    return result;
  }

  private static CheckedServer await(
      Topology.Server server, CompletableFuture<CheckedServer> check) {
    try {
      return check.join();
    } catch (CompletionException e) {
      return new CheckedServer(
          server.toString(),
          false,
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          List.of(
              HealthFinding.of(
                  Severity.ERROR,
                  "the check failed: " + e.getCause(),
                  "look at the client's log")));
    }
  }
}
