package io.mortise.it.chaos;

import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisServer;
import io.mortise.testkit.Stutter;
import java.util.HashMap;
import java.util.Map;

/**
 * The processes and connections that the faults of a round can strike. Closing it ends what
 * stutters.
 */
final class FaultContext implements AutoCloseable {
  private final ChaosServers servers;
  private final ChaosClients clients;
  private final String name;
  private final Map<String, Stutter> stutters = new HashMap<>();

  /**
   * Makes the context of a round.
   *
   * @param name for which its clients contend
   */
  FaultContext(ChaosServers servers, ChaosClients clients, String name) {
    this.servers = servers;
    this.clients = clients;
    this.name = name;
  }

  ChaosServers servers() {
    return servers;
  }

  ChaosClients clients() {
    return clients;
  }

  String name() {
    return name;
  }

  RedisServer server(int index) {
    return servers.server(index, name);
  }

  FaultProxy proxy(int index) {
    return servers.proxy(index);
  }

  /** Lets a process stutter until {@link #endStutter} with the same target. */
  void stutter(String target, Stutter stutter) {
    stutters.put(target, stutter);
  }

  void endStutter(String target) {
    stutters.remove(target).close();
  }

  @Override
  public void close() {
    stutters.values().forEach(Stutter::close);
  }
}
