package io.mortise.it.chaos;

import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisServer;

/** Those whom a fault can befall. */
record FaultContext(ChaosServers arena, ChaosClients crowd) {
  RedisServer server(int place) {
    return arena.server(place);
  }

  FaultProxy proxy(int place) {
    return arena.proxy(place);
  }
}
