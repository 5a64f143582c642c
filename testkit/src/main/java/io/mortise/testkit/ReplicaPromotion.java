package io.mortise.testkit;

import java.time.Duration;
import java.util.List;

/**
 * The promotion of one replica of a cluster; repeats the request until it has happened.
 *
 * <p><b>Threads.</b> Confined to the thread that promotes.
 */
final class ReplicaPromotion {
  /** Redis gives up a failover after 5 s. */
  private static final Duration ASK_AGAIN = Duration.ofSeconds(6);

  private final RedisServer replica;
  private final ClusterState state;
  private long askedNanos = System.nanoTime() - ASK_AGAIN.toNanos();

  ReplicaPromotion(RedisServer replica, ClusterState state) {
    this.replica = replica;
    this.state = state;
  }

  void complete() {
    Await.until(replica + " is a master for all nodes", this::advance, state::toString);
  }

  private boolean advance() {
    if (state.isMasterForAll(replica)) {
      return true;
    }
    if (System.nanoTime() - askedNanos >= ASK_AGAIN.toNanos()) {
      askedNanos = System.nanoTime();
      ask();
    }
    return false;
  }

  private void ask() {
    RedisServer master = state.masterOf(replica);
    if (master == replica) {
      return; // promoted by now; the other nodes do not know it yet
    }
    List<RedisServer> voters = state.masters();
    boolean inOrder =
        master.canAnswer()
            && DataNodes.isLinked(replica, master)
            && DataNodes.reachable(voters).size() * 2 > voters.size();
    if (inOrder) {
      replica.command("CLUSTER", "FAILOVER");
    } else {
      replica.command("CLUSTER", "FAILOVER", "TAKEOVER");
    }
  }
}
