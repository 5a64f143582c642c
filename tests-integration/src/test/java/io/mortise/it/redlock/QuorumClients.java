package io.mortise.it.redlock;

import static io.mortise.it.support.Eventually.LIVENESS;

import io.mortise.core.LockClient;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LateAnswer;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.redlock.QuorumLease;
import io.mortise.redlock.RedLock;
import java.time.Duration;
import java.util.List;

/**
 * A process: a client for each node.
 *
 * @param budget the node wait budget of its locks
 */
record QuorumClients(List<LockClient> clients, Duration budget) implements AutoCloseable {

  RedLock lock(String name) {
    return RedLock.builder().members(name, clients).nodeWaitBudget(budget).build();
  }

  LockClient client(int node) {
    return clients.get(node);
  }

  /** Acquires the lock, on every node. */
  QuorumLease acquireEverywhere(String name) throws InterruptedException {
    QuorumLease lease = acquire(name);
    Eventually.until("all nodes hold", () -> lease.validNodes() == lease.nodes());
    return lease;
  }

  /** Acquires the lock, on at least a majority. */
  QuorumLease acquire(String name) throws InterruptedException {
    return (QuorumLease) lock(name).acquire(LIVENESS).orElseThrow();
  }

  /** Acquires and releases the lock. */
  void cycle(String name) throws InterruptedException {
    acquire(name).close();
  }

  /** Connects the clients, and makes the servers know the scripts. */
  QuorumClients warm() {
    clients.forEach(SharedRedis::warm);
    // With time for a busy machine: nothing is tested yet.
    QuorumClients patient = new QuorumClients(clients, LIVENESS);
    LateAnswer.repeatRelease(() -> patient.acquireEverywhere(Names.fresh())::close);
    return this;
  }

  /** Waits until the clients use nothing. */
  void awaitIdle() {
    clients.forEach(ClientResources::awaitNone);
  }

  @Override
  public void close() {
    clients.forEach(LockClient::close);
  }
}
