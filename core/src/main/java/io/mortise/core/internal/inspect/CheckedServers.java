package io.mortise.core.internal.inspect;

import io.mortise.core.ServerHealth;
import java.util.List;
import java.util.stream.Collectors;

/** The results of the check of all servers of a client. */
record CheckedServers(List<Server> servers) implements ServerHealth {

  CheckedServers {
    servers = List.copyOf(servers);
  }

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
