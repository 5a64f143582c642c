package io.mortise.it.connections;

import static io.mortise.it.connections.ErrorContract.assertReported;
import static io.mortise.it.connections.ErrorContract.client;
import static io.mortise.it.support.SharedRedis.warm;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mortise.core.LockClient;
import io.mortise.core.LockException.Reason;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.RedisServer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A missing user, password or right is reported as such, and nothing stays held. */
@Timeout(60)
@Tag("redis-version")
class AccessDeniedTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final String CORRECT = "; correct user and password in the URI of the client";

  private static final String RIGHTS =
      "; give the user the rights of docs/wire.md, for the names of its locks";

  private final String name = Names.fresh();

  @Test
  void aWrongPassword() throws Exception {
    try (RedisServer closed = RedisServer.builder().config("requirepass", "right").start()) {
      String address = "127.0.0.1:" + closed.port();
      assertReported(name, "redis://:wrong@" + address, Reason.ACCESS_DENIED, CORRECT);
      assertReported(name, "redis://nobody:wrong@" + address, Reason.ACCESS_DENIED, CORRECT);
      assertReported(name, "redis://" + address, Reason.ACCESS_DENIED, CORRECT);
      try (LockClient client = client(closed.uri())) {
        warm(client);
      }
    }
  }

  private String user(String user, String... rules) {
    redis.command(
        Stream.concat(Stream.of("ACL", "SETUSER", user, "on", ">pw"), Stream.of(rules))
            .toArray(String[]::new));
    return "redis://" + user + ":pw@127.0.0.1:" + redis.server().port();
  }

  @Test
  void aUserWithoutTheRightToRunScripts() throws Exception {
    String uri = user("scriptless", "~*", "&*", "+@all", "-evalsha");
    assertReported(name, uri, Reason.ACCESS_DENIED, "evalsha", RIGHTS);
  }

  @Test
  void aUserWithoutTheRightToTheKey() throws Exception {
    String uri = user("keyless", "~other:*", "&*", "+@all");
    assertReported(name, uri, Reason.ACCESS_DENIED, RIGHTS);
    assertFalse(redis.exists(name));
  }

  @Test
  void aUserWithoutTheRightToACommandInsideTheScript() throws Exception {
    String uri = user("hashless", "~*", "&*", "+@all", "-hset");
    assertReported(name, uri, Reason.ACCESS_DENIED, RIGHTS);
    assertFalse(redis.exists(name));
  }

  @Test
  void aUserWithoutTheRightToSetALeaseLeavesNoHold() throws Exception {
    String uri = user("leaseless", "~*", "&*", "+@all", "-pexpire");
    assertReported(name, uri, Reason.ACCESS_DENIED, RIGHTS);
    assertFalse(redis.exists(name));
  }
}
