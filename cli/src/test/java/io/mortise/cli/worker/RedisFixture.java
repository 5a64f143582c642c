package io.mortise.cli.worker;

import io.mortise.testkit.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;
import redis.clients.jedis.RedisClient;

/** A Redis server and a client for the tests of one class. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class RedisFixture {
  private final RedisServer server = RedisServer.start();
  final RedisClient redis = RedisClient.create(server.uri());

  @AfterAll
  void stop() {
    redis.close();
    server.close();
  }
}
