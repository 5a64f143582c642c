package io.mortise.it.contract;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;

/** The rights on a cluster, with a slot that moves. */
class ClusterRightsTest extends RightsContract {
  private static final List<String> PLAIN_CHANNELS =
      List.of("+subscribe", "+unsubscribe", "+publish");

  @AutoClose
  private final RedisCluster servers = RedisCluster.builder().masters(2).replicas(0).start();

  @Override
  List<RedisServer> nodes() {
    return servers.nodes();
  }

  /** Returns all rights of a plain lock, and those of the cluster. */
  @Override
  List<String> rules() throws IOException {
    List<String> rules = Rights.documented(PREFIX);
    List<String> more = rights().toList();
    if (more.contains("+spublish")) {
      rules.removeAll(PLAIN_CHANNELS);
    }
    rules.addAll(more);
    return rules;
  }

  @Override
  Stream<String> rights() throws IOException {
    return Rights.onACluster(nodes().get(0)).stream();
  }

  @Override
  String uri(String user) {
    RedisServer seed = nodes().get(0);
    return "redis-cluster://%s:secret@%s:%d".formatted(user, seed.host(), seed.port());
  }

  /** Moves the slot of a hold, which is asked for halfway at the node that takes it over. */
  @Override
  void useMore(DistributedLock lock) {
    RedisServer from = servers.masterOf(lock.name());
    RedisServer to = nodes().stream().filter(node -> node != from).findFirst().orElseThrow();
    try (Lease held = lock.tryAcquire().orElseThrow()) {
      servers.moveSlot(held.lockName(), to, () -> assertTrue(lock.isLocked()));
    }
  }
}
