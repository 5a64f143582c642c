package io.mortise.core.internal;

import static io.mortise.core.internal.RespServer.error;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.spi.LockNode;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ServerIdTest {
  private static final ConnectionSettings OPTIONS = TestSettings.within(Duration.ofSeconds(20));
  private static final String INFO =
      "# Server\r\nredis_version:7.0.15\r\nrun_id:0123abcd\r\ntcp_port:6379\r\n";

  private volatile String answer = bulk(INFO);
  private final RespServer server = new RespServer(command -> answer);
  private final Workers workers = new Workers("test");
  private final Deployment node = Connector.servers(server.uri(), OPTIONS, workers);
  private final Commands commands = new Commands(node, workers, OPTIONS);
  private final ServerId id = new ServerId();

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
    assertEquals(Optional.of("0123abcd"), id.get(commands));
    answer = error("ERR not again");
    assertEquals(Optional.of("0123abcd"), id.get(commands));

    assertEquals(1, server.heard().size());
    assertEquals("INFO", server.heard().get(0).get(0));
  }

  @Test
  void aServerThatDoesNotTellIsAskedOnce() {
    answer = error("NOPERM this user has no permissions to run the 'info' command");
    assertEquals(Optional.empty(), id.get(commands));
    answer = bulk(INFO);
    assertEquals(Optional.empty(), id.get(commands));

    assertEquals(1, server.heard().size());
  }

  @Test
  void aServerWhoseInformationHasNoneIsAskedOnce() {
    for (String odd : new String[] {bulk("# Server\r\nold_run_id:9\r\n"), ":1\r\n"}) {
      answer = odd;
      ServerId none = new ServerId();
      assertEquals(Optional.empty(), none.get(commands));
      answer = bulk(INFO);
      assertEquals(Optional.empty(), none.get(commands));
    }
  }

  @Test
  void aServerThatIsNotReadyIsAskedAgain() {
    answer = error("LOADING Redis is loading the dataset in memory");
    assertEquals(Optional.empty(), id.get(commands));
    answer = RespServer.HANG_UP;
    assertEquals(Optional.empty(), id.get(commands));

    answer = bulk(INFO);

    assertEquals(Optional.of("0123abcd"), id.get(commands));
  }

  /** A node as two clients see it. */
  private record Seen(String address, Optional<String> serverId) implements LockNode {
    Seen(String address, String id) {
      this(address, Optional.ofNullable(id));
    }
  }

  @Test
  void twoAreOneServerByAddressOrById() {
    Seen one = new Seen("a:1", "id");

    assertTrue(one.isSame(new Seen("b:1", "id")));
    assertTrue(one.isSame(new Seen("a:1", "restarted")));
    assertFalse(one.isSame(new Seen("b:1", "other")));
    assertFalse(one.isSame(new Seen("b:1", (String) null)));
    assertFalse(new Seen("c:1", (String) null).isSame(new Seen("b:1", (String) null)));
  }
}
