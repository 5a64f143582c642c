package io.mortise.it.fair;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.fair.RedisFairLock;
import io.mortise.testkit.LockFamily;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The fair lock on one server, for the contracts of the testkit. */
interface FairLocks extends LockFamily {

  /** What a test class has running. */
  final class Running {
    private static RedisServer server;
    private static LockClient here;
    private static LockClient there;

    private Running() {}
  }

  @BeforeAll
  static void start() {
    LockOptions options = LockOptions.builder().lease(Duration.ofSeconds(1)).build();
    Running.server = RedisServer.start();
    Running.here = LockClient.create(Running.server.uri(), options);
    Running.there = LockClient.create(Running.server.uri(), options);
  }

  @AfterAll
  static void stop() {
    Running.here.close();
    Running.there.close();
    Running.server.close();
  }

  @Override
  default DistributedLock lock(String name) {
    return new RedisFairLock(Running.here, name);
  }

  @Override
  default DistributedLock otherProcess(String name) {
    return new RedisFairLock(Running.there, name);
  }
}
