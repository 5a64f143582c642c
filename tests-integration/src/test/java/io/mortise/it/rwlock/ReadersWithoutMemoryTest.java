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
    state.write("read a:5000 b:5000 ttl:5000");
    limit("1");
    assertEquals(1L, first(state.call("renew a 1")));
    assertEquals(1L, first(state.call("renew a 9000")));
    limit("0");
    state.assertIs("read a:9000 b:5000 ttl:9000");
  }

  @Test
  void aReaderIsReleased() {
    state.write("read a:9000 b:900 ttl:9000");
    limit("1");
    assertEquals(1L, first(state.call("release a")));
    assertEquals(1L, first(state.call("release b")));
    limit("0");
    state.assertIs("free");
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
