package io.mortise.testkit;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The plain lock on one server, on which the contracts themselves are tried. */
interface RedisLocks extends LockFamily {

  /** The server and the clients of a test class. */
  final class Running {
    private static RedisServer server;
    private static LockClient here;
    private static LockClient there;

    private Running() {}
  }

  @BeforeAll
  static void start() {
    LockOptions options = LockOptions.builder().lease(Duration.ofSeconds(3)).build();
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
    return new RedisLock(Running.here, name);
  }

  @Override
  default DistributedLock otherProcess(String name) {
    return new RedisLock(Running.there, name);
  }
}
