package io.mortise.connection.command;

import static io.mortise.connection.testing.RespServer.error;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import io.mortise.connection.topology.Topology;
import io.mortise.connection.topology.TopologyFactory;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CachedRunIdTest {
  private static final long FOREVER = Long.MAX_VALUE;
  private static final ConnectionSettings OPTIONS = TestSettings.within(Duration.ofSeconds(20));
  private static final String INFO =
      "# Server\r\nredis_version:7.0.15\r\nrun_id:0123abcd\r\ntcp_port:6379\r\n";

  private volatile String answer = bulk(INFO);
  private final RespServer server = new RespServer(command -> answer);
  private final WorkerPool workers = new WorkerPool("test");
  private final Topology node = TopologyFactory.create(server.uri(), OPTIONS, workers);
  private final ScriptExecutor commands = new ScriptExecutor(node, workers, OPTIONS);
  private final CachedRunId id = new CachedRunId();

  private static String bulk(String text) {
    return "$" + text.length() + "\r\n" + text + "\r\n";
  }

  @AfterEach
  void close() {
    node.close();
    workers.close();
    server.close();
  }

  @Test
  void itIsTheRunIdAndAskedOnce() {
    assertEquals(Optional.of("0123abcd"), id.get(commands, FOREVER));
    answer = error("ERR not again");
    assertEquals(Optional.of("0123abcd"), id.get(commands, FOREVER));

    assertEquals(1, server.heard().size());
    assertEquals("INFO", server.heard().get(0).get(0));
  }

  @Test
  void aServerThatDoesNotTellIsAskedOnce() {
    answer = error("NOPERM this user has no permissions to run the 'info' command");
    assertEquals(Optional.empty(), id.get(commands, FOREVER));
    answer = bulk(INFO);
    assertEquals(Optional.empty(), id.get(commands, FOREVER));

    assertEquals(1, server.heard().size());
  }

  @Test
  void aServerWhoseInformationHasNoneIsAskedOnce() {
    for (String odd : new String[] {bulk("# Server\r\nold_run_id:9\r\n"), ":1\r\n"}) {
      answer = odd;
      CachedRunId none = new CachedRunId();
      assertEquals(Optional.empty(), none.get(commands, FOREVER));
      answer = bulk(INFO);
      assertEquals(Optional.empty(), none.get(commands, FOREVER));
    }
  }

  @Test
  void aServerThatIsNotReadyIsAskedAgain() {
    answer = error("LOADING Redis is loading the dataset in memory");
    assertEquals(Optional.empty(), id.get(commands, FOREVER));
    answer = RespServer.HANG_UP;
    assertEquals(Optional.empty(), id.get(commands, FOREVER));

    answer = bulk(INFO);

    assertEquals(Optional.of("0123abcd"), id.get(commands, FOREVER));
  }

  @Test
  void aSilentServerIsAskedForAsLongAsTheCallerHasTime() {
    answer = RespServer.SILENCE;
    assertEquals(Optional.empty(), id.get(commands, 0));
    assertEquals(0, server.heard().size());

    assertTimeout(
        Duration.ofSeconds(10),
        () -> assertEquals(Optional.empty(), id.get(commands, 50_000_000L)));
  }
}
