package io.mortise.connection.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.pool.EvictionPolicyCheck;
import io.mortise.connection.pool.ServerInfo;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestCalls;
import io.mortise.connection.testing.TestSettings;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class EvictionPolicyCheckTest {
  private static final List<String> QUESTION = List.of("INFO", "memory");

  private final List<String> warnings = new ArrayList<>();
  private final EvictionPolicyCheck eviction =
      new EvictionPolicyCheck("redis.example:6379", warnings::add);

  private static ServerInfo info(String maxmemory, String policy) {
    return new ServerInfo(
        "# Memory\r\nused_memory:1000\r\nmaxmemory:%s\r\nmaxmemory_human:1M\r\nmaxmemory_policy:%s\r\n"
            .formatted(maxmemory, policy));
  }

  @Test
  void aServerThatMayEvictIsToldOfOnce() {
    eviction.read(info("1048576", "allkeys-lru"));
    eviction.read(info("1048576", "allkeys-lru"));

    assertEquals(1, warnings.size());
    assertTrue(
        warnings.get(0).startsWith("redis.example:6379 may evict locks while they are held"),
        warnings.get(0));
    assertTrue(warnings.get(0).contains("maxmemory 1048576"), warnings.get(0));
    assertTrue(warnings.get(0).contains("maxmemory-policy allkeys-lru"), warnings.get(0));
    assertTrue(eviction.isKnown());
  }

  @ParameterizedTest
  @CsvSource({"0, allkeys-lru", "1048576, noeviction", "0, noeviction"})
  void aServerThatEvictsNothingIsNotToldOf(String maxmemory, String policy) {
    eviction.read(info(maxmemory, policy));

    assertEquals(List.of(), warnings);
    assertTrue(eviction.isKnown());
  }

  @Test
  void aServerThatSaysNothingOfItIsNotAskedAgain() {
    eviction.read(new ServerInfo("# Memory\r\nused_memory:1000\r\n"));

    assertEquals(List.of(), warnings);
    assertTrue(eviction.isKnown());
  }

  @Test
  void whoMayNotAskIsNotToldAndAsksNoMore() {
    assertFalse(eviction.isKnown());
    eviction.cannotKnow();

    assertEquals(List.of(), warnings);
    assertTrue(eviction.isKnown());
  }

  /** With the first command of the first connection: so that takes no round trip of its own. */
  @Test
  void theFirstConnectionToAServerAsksAndTheOthersDoNot() throws Exception {
    ConnectionSettings options = TestSettings.DEFAULTS;
    try (RespServer server = new RespServer(command -> "+PONG\r\n");
        WorkerPool workers = new WorkerPool("test");
        Topology servers = TopologyFactory.create(server.uri(), options, workers)) {
      for (int i = 0; i < 3; i++) {
        TestCalls.ping(servers, 20_000_000_000L);
        servers.exchange(
            0,
            (c, deadline) -> {
              c.setBroken(); // the next one is another connection
              return "";
            },
            TestSettings.after(20_000_000_000L));
      }

      assertEquals(1, server.greeted().stream().filter(QUESTION::equals).count());
      assertTrue(
          server.greeted().stream().filter(List.of("INFO", "server")::equals).count() > 1,
          "there was more than one connection");
    }
  }
}
