package com.example.redlock;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.redlock.QuorumLease;
import io.mortise.redlock.RedLock;
import java.time.Duration;
import java.util.List;

/** A lock over three independent nodes, which goes on when one of them is down. */
public final class ThreeNodes implements AutoCloseable {
  private static final Duration NODE_WAIT_BUDGET = Duration.ofMillis(500);

  private final List<LockClient> nodes;
  private final DistributedLock lock;

  /** A lock for which a node that hangs costs at most that time, where its vote decides. */
  ThreeNodes(List<String> uris, Duration nodeWaitBudget) {
    nodes = uris.stream().map(LockClient::create).toList();
    lock = RedLock.builder().members("report", nodes).nodeWaitBudget(nodeWaitBudget).build();
  }

  /** The nodes and the token of a hold. */
  record Held(int validNodes, long token) {}

  /** Works under the lock; waits for it, and for a majority of the nodes, at most that long. */
  Held work(Duration wait) throws InterruptedException {
    try (Lease lease = lock.acquire(wait).orElseThrow()) {
      int valid = lease instanceof QuorumLease quorum ? quorum.validNodes() : 0;
      return new Held(valid, lease.fencingToken());
    }
  }

  @Override
  public void close() {
    nodes.forEach(LockClient::close);
  }

  /**
   * Works once, and prints how.
   *
   * @param arguments the URIs of the nodes
   */
  public static void main(String... arguments) throws InterruptedException {
    try (ThreeNodes service = new ThreeNodes(List.of(arguments), NODE_WAIT_BUDGET)) {
      System.out.println(service.work(Duration.ofSeconds(10)));
    }
  }
}
