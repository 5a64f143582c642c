package io.mortise.it.redlock;

import static io.mortise.it.support.ProxiedServers.tokenKey;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.ProxiedServers;
import io.mortise.it.support.ServerFault;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/** The nodes of a RedLock, and the processes that use them. */
final class FaultyNodes extends ProxiedServers {
  FaultyNodes(int count) {
    super(count);
  }

  /** A process whose clients come through the proxies. */
  QuorumClients proxied(LockOptions options, Duration budget) {
    return connect(proxyUris(), options, budget);
  }

  /** A process whose clients come to the servers themselves. */
  QuorumClients direct(LockOptions options, Duration budget) {
    return connect(uris(), options, budget);
  }

  /** A process that notices that fault. */
  QuorumClients exposedTo(ServerFault fault, LockOptions options, Duration budget) {
    return fault.isOfNetwork() ? proxied(options, budget) : direct(options, budget);
  }

  private QuorumClients connect(List<String> uris, LockOptions options, Duration budget) {
    List<LockClient> clients = uris.stream().map(uri -> client(uri, options)).toList();
    return new QuorumClients(clients, budget).warm();
  }

  /** The address of the node for a process that notices that fault. */
  String address(ServerFault fault, int node) {
    return "127.0.0.1:" + (fault.isOfNetwork() ? proxy(node).port() : server(node).port());
  }

  /** All minorities of at least one node. */
  List<List<Integer>> minorities() {
    return IntStream.range(1, 1 << count())
        .filter(set -> Integer.bitCount(set) <= (count() - 1) / 2)
        .mapToObj(set -> indices().filter(i -> (set & 1 << i) != 0).boxed().toList())
        .toList();
  }

  /**
   * Waits until a thread waits at a node, one of those that answered first.
   *
   * @return the node
   */
  int awaitWaiter(String lock) {
    Eventually.until("a thread waits", () -> subscribers(lock) == 1);
    return indices().filter(node -> subscribers(lock, node) == 1).findFirst().orElseThrow();
  }

  /** The last token that the node knows, or 0. */
  long token(String lock, int node) {
    Object token = server(node).command("GET", tokenKey(lock));
    return token == null ? 0 : Long.parseLong((String) token);
  }
}
