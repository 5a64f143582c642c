package io.mortise.artefacts;

import io.mortise.core.LockClient;
import redis.clients.jedis.RedisClient;

/** Uses every lock on the server of a URI. */
public final class OnServer {
  private OnServer() {}

  public static void main(String[] args) {
    try (LockClient client = LockClient.create(args[0]);
        RedisClient jedis = RedisClient.create(args[0])) {
      EveryLock.use(client, jedis);
    }
    System.out.println("every lock works");
  }
}
