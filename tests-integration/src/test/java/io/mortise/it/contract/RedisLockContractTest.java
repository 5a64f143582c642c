package io.mortise.it.contract;

import io.mortise.testkit.LeaseContract;
import io.mortise.testkit.LockContract;
import io.mortise.testkit.RedisServer;
import io.mortise.testkit.WaitContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The plain lock on a server as it comes. */
@Tag("redis-version")
class RedisLockContractTest {
  private static RedisServer server;
  private static TwoClients clients;

  private interface Family extends TwoClients.Family {
    @Override
    default TwoClients clients() {
      return clients;
    }
  }

  @BeforeAll
  static void start() {
    server = RedisServer.start();
    clients = TwoClients.of(server.uri());
  }

  @AfterAll
  static void stop() {
    clients.close();
    server.close();
  }

  @Nested
  class AsALock extends LockContract implements Family {}

  @Nested
  class Waiting extends WaitContract implements Family {}

  @Nested
  class Leases extends LeaseContract implements Family {}
}
