package io.mortise.it.topology;

import io.mortise.testkit.InMemoryRedis;
import java.nio.file.Path;

/** The Redis in memory of the test kit, for users' unit tests: every contract holds on it. */
class InMemoryTest extends EveryContract {
  @Override
  Clients start(Path directory) {
    InMemoryRedis redis = InMemoryRedis.start();
    return Clients.of(redis::client, redis::client, redis::close);
  }
}
