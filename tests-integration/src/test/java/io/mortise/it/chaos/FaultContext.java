package io.mortise.it.chaos;

import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisServer;

/** The processes and connections that a fault can strike. */
record FaultContext(ChaosServers servers, ChaosClients clients) {
  RedisServer server(int index) {
    return servers.server(index);
  }

  FaultProxy proxy(int index) {
    return servers.proxy(index);
  }
}
