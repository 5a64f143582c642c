package io.mortise.it.redlock;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.redlock.QuorumLease;
import io.mortise.redlock.RedLock;
import java.time.Duration;
import java.util.List;

/**
 * A process: a client for each node.
 *
 * @param budget for how long a node may take to answer
 */
record QuorumClients(List<LockClient> clients, Duration budget) implements AutoCloseable {

  /** Longer than anything that works ever takes. */
  static final Duration LIVENESS = Duration.ofSeconds(20);

  static QuorumClients of(List<String> uris, LockOptions options, Duration budget) {
    return new QuorumClients(
        uris.stream().map(uri -> LockClient.create(uri, options)).toList(), budget);
  }

  RedLock lock(String name) {
    return RedLock.builder().members(name, clients).nodeWaitBudget(budget).build();
  }

  /** Takes the lock, on every node. */
  QuorumLease takeEverywhere(String name) throws InterruptedException {
    QuorumLease lease = take(name);
    Eventually.until("all nodes hold", () -> lease.validNodes() == lease.nodes());
    return lease;
  }

  /** Takes the lock, on a majority at least. */
  QuorumLease take(String name) throws InterruptedException {
    return (QuorumLease) lock(name).acquire(LIVENESS).orElseThrow();
  }

  /** Takes the lock and gives it up. */
  void pass(String name) throws InterruptedException {
    Lease lease = take(name);
    lease.close();
  }

  /** Connects the clients, and makes the servers know the scripts. */
  QuorumClients warm() throws InterruptedException {
    for (LockClient client : clients) {
      new RedisLock(client, Names.fresh()).acquire(LIVENESS).orElseThrow().close();
    }
    // With time for a machine that is busy: nothing is tested yet.
    new QuorumClients(clients, LIVENESS).takeEverywhere(Names.fresh()).close();
    return this;
  }

  /** The clients come to have nothing in hand. */
  void awaitIdle() {
    clients.forEach(ClientResources::awaitNone);
  }

  @Override
  public void close() {
    clients.forEach(LockClient::close);
  }
}
