package io.mortise.artefacts;

import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.RedisServer;

/** Uses every lock with the servers of the test kit: the one in memory, and a real one. */
public final class WithTestKit {
  private WithTestKit() {}

  public static void main(String[] args) {
    try (InMemoryRedis redis = InMemoryRedis.start()) {
      EveryLock.use(redis.client(), redis.jedis());
    }
    try (RedisServer server = RedisServer.start()) {
      OnServer.main(new String[] {server.uri()});
    }
  }
}
