package io.mortise.it.support;

import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisSentinels;
import java.util.Collection;
import java.util.stream.Collectors;

/** URIs of servers that a client finds through several addresses. */
public final class ServerUris {
  private ServerUris() {}

  public static String of(RedisCluster cluster) {
    return of("redis://", cluster.hostPorts(), "");
  }

  public static String of(RedisSentinels sentinels) {
    return of("redis-sentinel://", sentinels.sentinelHostPorts(), "#" + sentinels.masterName());
  }

  /** Returns a URI of those addresses, between a prefix and a suffix. */
  public static String of(String prefix, Collection<?> hostPorts, String suffix) {
    return hostPorts.stream()
        .map(Object::toString)
        .collect(Collectors.joining(",", prefix, suffix));
  }
}
