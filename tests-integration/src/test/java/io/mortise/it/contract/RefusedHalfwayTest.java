package io.mortise.it.contract;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.spi.LockName;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Names;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An attempt that fails inside the script leaves no hold without a holder. */
@Timeout(30)
@Tag("redis-version")
class RefusedHalfwayTest {
  @AutoClose private static final RedisServer server = RedisServer.start();

  @Test
  void aLockWhoseLeaseCannotBeSetIsReleased() {
    server.command("ACL", "SETUSER", "no-pexpire", "on", ">x", "~*", "&*", "+@all", "-pexpire");
    String uri = "redis://no-pexpire:x@%s:%d".formatted(server.host(), server.port());
    String name = Names.fresh();
    assertRefused(uri, name, Reason.ACCESS_DENIED);
  }

  @Test
  void aTokenKeyOfAnotherTypeRefusesTheLock() {
    String name = Names.fresh();
    server.command("LPUSH", new LockName(name).tokenKey(), "not a token");
    assertRefused(server.uri(), name, Reason.WRONG_TYPE);
  }

  private static void assertRefused(String uri, String name, Reason reason) {
    // The client repeats a release for at most one lease; here that is short.
    LockOptions options = LockOptions.builder().lease(Duration.ofSeconds(3)).build();
    try (LockClient client = LockClient.create(uri, options)) {
      DistributedLock lock = new RedisLock(client, name);
      LockException refused = assertThrows(LockException.class, lock::tryLock);
      assertEquals(reason, refused.reason(), refused::getMessage);
      await()
          .pollDelay(Duration.ZERO)
          .atMost(Duration.ofSeconds(5))
          .until(() -> server.command("EXISTS", name).equals(0L));
      ClientResources.awaitNone(client);
    }
  }
}
