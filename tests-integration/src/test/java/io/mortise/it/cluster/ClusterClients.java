package io.mortise.it.cluster;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.it.contract.Rights;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Clients of a cluster, and what its nodes know of a lock. */
final class ClusterClients {
  /** So long that nothing which ends with it can be taken for something that came in time. */
  static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofSeconds(30))
          .commandTimeout(Duration.ofSeconds(1))
          .outageTimeout(Duration.ofSeconds(60))
          .build();

  /** Of a lease of 30 s a third. */
  static final Duration WELL_WITHIN_A_RENEWAL = Duration.ofSeconds(8);

  private ClusterClients() {}

  static String uri(RedisCluster servers) {
    return servers.hostPorts().stream()
        .map(Object::toString)
        .collect(Collectors.joining(",", "redis://", ""));
  }

  static LockClient client(RedisCluster servers) {
    return LockClient.create(uri(servers), OPTIONS);
  }

  static boolean holds(RedisServer server, String name) {
    return Long.valueOf(1).equals(server.command("EXISTS", name));
  }

  static String channel(String name) {
    return "redisson_lock__channel:{" + name + "}";
  }

  /** The nodes at which somebody hears the channel, sharded or not. */
  static List<RedisServer> heardAt(RedisCluster servers, String name) {
    return servers.nodes().stream()
        .filter(RedisServer::isRunning)
        .filter(node -> channels(node).contains(channel(name)))
        .toList();
  }

  static List<?> channels(RedisServer node) {
    Stream<?> plain = ((List<?>) node.command("PUBSUB", "CHANNELS")).stream();
    return isSharded(node)
        ? Stream.concat(plain, ((List<?>) node.command("PUBSUB", "SHARDCHANNELS")).stream())
            .toList()
        : plain.toList();
  }

  static boolean isSharded(RedisServer node) {
    return Rights.hasShardedChannels(node);
  }

  /** A name of a slot of that master. */
  static String nameAt(RedisCluster servers, RedisServer master, String prefix) {
    return Stream.iterate(0, i -> i + 1)
        .map(i -> prefix + ":" + i)
        .filter(name -> servers.masterOf(name) == master)
        .findFirst()
        .orElseThrow();
  }
}
