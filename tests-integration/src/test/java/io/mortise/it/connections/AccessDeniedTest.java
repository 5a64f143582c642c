package io.mortise.it.connections;

import static io.mortise.it.connections.ErrorContract.assertTold;
import static io.mortise.it.connections.ErrorContract.client;
import static io.mortise.it.support.SharedRedis.freshName;
import static io.mortise.it.support.SharedRedis.warm;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mortise.core.LockClient;
import io.mortise.core.LockException.Reason;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Pitfall 38: a user, a password or a right that is missing is told as what it is, with the lock,
 * the fact, what to do, and the cause; and nothing stays held.
 */
@Timeout(60)
@Tag("redis-version")
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class AccessDeniedTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private final String name = freshName();

  @Test
  void aWrongPassword() throws Exception {
    try (RedisServer closed = RedisServer.builder().config("requirepass", "right").start()) {
      String address = "127.0.0.1:" + closed.port();
      assertTold(name, "redis://:wrong@" + address, Reason.ACCESS_DENIED, "check user, password");
      assertTold(
          name, "redis://nobody:wrong@" + address, Reason.ACCESS_DENIED, "check user, password");
      assertTold(name, "redis://" + address, Reason.ACCESS_DENIED, "check user, password");
      try (LockClient client = client(closed.uri())) {
        warm(client);
      }
    }
  }

  private String user(String user, String... rules) {
    String[] words = new String[rules.length + 5];
    System.arraycopy(new String[] {"ACL", "SETUSER", user, "on", ">pw"}, 0, words, 0, 5);
    System.arraycopy(rules, 0, words, 5, rules.length);
    redis.server().command(words);
    return "redis://" + user + ":pw@127.0.0.1:" + redis.server().port();
  }

  @Test
  void aUserWithoutTheRightToRunScripts() throws Exception {
    String uri = user("scriptless", "~*", "&*", "+@all", "-evalsha");
    assertTold(name, uri, Reason.ACCESS_DENIED, "evalsha", "check user, password and rights");
  }

  @Test
  void aUserWithoutTheRightToTheKey() throws Exception {
    String uri = user("keyless", "~other:*", "&*", "+@all");
    assertTold(name, uri, Reason.ACCESS_DENIED, "check user, password and rights");
    assertFalse(redis.exists(name));
  }

  @Test
  void aUserWithoutTheRightToACommandInsideTheScript() throws Exception {
    String uri = user("hashless", "~*", "&*", "+@all", "-hset");
    assertTold(name, uri, Reason.ACCESS_DENIED, "check user, password and rights");
    assertFalse(redis.exists(name));
  }

  @Test
  void aUserWithoutTheRightToGiveALeaseHoldsNothingForEver() throws Exception {
    String uri = user("leaseless", "~*", "&*", "+@all", "-pexpire");
    assertTold(name, uri, Reason.ACCESS_DENIED, "check user, password and rights");
    assertFalse(redis.exists(name));
  }
}
