package io.mortise.it.rwlock;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.spi.LockName;
import io.mortise.it.support.Names;
import io.mortise.it.support.ScriptServer;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Readers of a server that refuses whatever takes memory. */
@Timeout(60)
@Tag("redis-version")
class ReadersWithoutMemoryTest {
  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  private final String name = Names.fresh();
  private final ScriptState state = new ScriptState(redis.server(), name, NotedReaders.ALL);

  private static void limit(String bytes) {
    redis.jedis().configSet("maxmemory", bytes);
  }

  @AfterEach
  void noLimit() {
    limit("0");
  }

  /** A note of the reader takes memory; the hold does not depend on the note. */
  @Test
  void aReaderIsVerifiedAndRenewed() {
    assertBothSucceed(
        "read a:5000 b:5000 ttl:5000", "renew a 1", "renew a 9000", "read a:9000 b:5000 ttl:9000");
  }

  @Test
  void aReaderIsReleased() {
    assertBothSucceed("read a:9000 b:900 ttl:9000", "release a", "release b", "free");
  }

  private void assertBothSucceed(String before, String first, String second, String after) {
    state.write(before);
    limit("1");
    assertEquals(1L, first(state.call(first)));
    assertEquals(1L, first(state.call(second)));
    limit("0");
    state.assertIs(after);
  }

  /** A key of another type in the place of the set says nothing about the hold. */
  @Test
  void aReaderIsRenewedBesideAKeyOfAnotherType() {
    ScriptState other = new ScriptState(redis.server(), name, NotedReaders.NONE);
    other.write("read a:900 ttl:900");
    redis.jedis().set(new LockName(name).derive("mortise_readers"), "not a set");
    assertEquals(1L, first(other.call("renew a 9000")));
    redis.jedis().del(new LockName(name).derive("mortise_readers"));
    other.assertIs("read a:9000 ttl:9000");
  }

  private static Object first(Object answer) {
    return ((List<?>) answer).get(0);
  }
}
