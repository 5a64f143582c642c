package io.mortise.it.cluster;

import io.mortise.it.contract.Rights;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisServer;
import java.util.List;
import java.util.stream.Stream;

/** The channels that are subscribed at the nodes of a cluster, sharded or not. */
public final class ClusterChannels {
  private ClusterChannels() {}

  /** Returns the nodes at which a channel of those that wait for the plain lock is subscribed. */
  public static List<RedisServer> subscribedNodes(RedisCluster servers, String lock) {
    return servers.nodes().stream()
        .filter(RedisServer::isRunning)
        .filter(
            node -> at(node).stream().anyMatch(channel -> SharedRedis.isWaitedAt(channel, lock)))
        .toList();
  }

  static List<?> at(RedisServer node) {
    Stream<?> plain = ((List<?>) node.command("PUBSUB", "CHANNELS")).stream();
    return areSharded(node)
        ? Stream.concat(plain, ((List<?>) node.command("PUBSUB", "SHARDCHANNELS")).stream())
            .toList()
        : plain.toList();
  }

  /** Returns whether the node knows sharded channels. */
  public static boolean areSharded(RedisServer node) {
    return Rights.hasShardedChannels(node);
  }
}
