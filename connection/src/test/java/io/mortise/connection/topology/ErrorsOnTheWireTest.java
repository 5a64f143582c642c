package io.mortise.connection.topology;

import static io.mortise.connection.testing.RespServer.error;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestCalls;
import io.mortise.connection.testing.TestSettings;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The exceptions of Jedis for real faults, and their classification. */
@Timeout(60)
class ErrorsOnTheWireTest {
  /** Generous: the first TLS handshake of a JVM takes seconds on a busy machine. */
  private static final ConnectionSettings OPTIONS = TestSettings.within(Duration.ofSeconds(20));

  private static CommandException ping(String uri, long withinNanos) {
    try (WorkerPool workers = new WorkerPool("test");
        Topology node = TopologyFactory.create(uri, OPTIONS, workers)) {
      CommandException fault =
          assertThrows(CommandException.class, () -> TestCalls.ping(node, withinNanos));
      assertEquals(0, node.connectionsInUse(), "the connection was given back");
      return fault;
    }
  }

  private static CommandException ping(String uri) {
    return ping(uri, Duration.ofSeconds(20).toNanos());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "LOADING Redis is loading the dataset in memory | NOT_READY",
        "BUSY Redis is busy running a script. | NOT_READY",
        "CLUSTERDOWN Hash slot not served | NOT_READY",
        "OOM command not allowed when used memory > 'maxmemory'. | OUT_OF_MEMORY",
        "READONLY You can't write against a read only replica. | READ_ONLY",
        "NOAUTH Authentication required. | ACCESS_DENIED",
        "NOPERM this user has no permissions to run the 'evalsha' command | ACCESS_DENIED",
        "LOCKTYPE the name is held as a read-write lock | WRONG_TYPE",
        "ERR no | SCRIPT",
      })
  void anErrorReplyKeepsItsMeaning(String text, Kind reason) {
    try (RespServer server = new RespServer(command -> error(text))) {
      CommandException fault = ping(server.uri());

      assertEquals(reason, fault.kind(), fault.getMessage());
      assertTrue(fault.getMessage().endsWith(server.address() + " says: " + text + ")"));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ERR max number of clients reached | NOT_READY | takes no more clients",
        "DENIED Redis is running in protected mode | ACCESS_DENIED | access was denied",
      })
  void whoIsTurnedAwayAtTheDoorIsToldWhy(String text, Kind reason, String fact) {
    try (RespServer server = RespServer.turningAway(error(text))) {
      CommandException fault = ping(server.uri());

      assertEquals(reason, fault.kind(), fault.getMessage());
      assertTrue(fault.getMessage().contains(fact), fault.getMessage());
      assertFalse(fault.mayHaveExecuted());
    }
  }

  @Test
  void nobodyListens() throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }

    CommandException fault = ping("redis://127.0.0.1:" + port);

    assertEquals(Kind.UNREACHABLE, fault.kind());
    assertFalse(fault.mayHaveExecuted());
    assertEquals("127.0.0.1:" + port + " refuses the connection", fault.getMessage());
  }

  @Test
  void theHostHasNoAddress() {
    // A label of more than 63 letters has none in any network, and nobody is asked for it.
    String host = "h".repeat(64) + ".invalid";

    CommandException fault = ping("redis://" + host);

    assertEquals(Kind.UNREACHABLE, fault.kind());
    assertFalse(fault.mayHaveExecuted());
    assertEquals(host + ":6379 has no address; check the host name", fault.getMessage());
  }

  @Test
  void theServerDoesNotAnswer() {
    try (RespServer server = new RespServer(command -> RespServer.SILENCE)) {
      CommandException fault = ping(server.uri(), 1_000_000_000);

      assertEquals(Kind.UNREACHABLE, fault.kind());
      assertTrue(fault.mayHaveExecuted());
      assertEquals(server.address() + " did not answer in time", fault.getMessage());
    }
  }

  @Test
  void theServerHangsUp() {
    try (RespServer server = new RespServer(command -> RespServer.HANG_UP)) {
      CommandException fault = ping(server.uri());

      assertEquals(Kind.UNREACHABLE, fault.kind());
      assertTrue(fault.mayHaveExecuted());
      assertTrue(
          fault.getMessage().startsWith("the connection to " + server.address() + " failed: "),
          fault.getMessage());
    }
  }

  /** Jedis would begin a second handshake, with the whole time again. */
  @Test
  void aPortThatDoesNotAnswerToTlsIsAskedOnceAndToldAsThat() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      String address = "127.0.0.1:" + silent.getLocalPort();
      BackgroundCall<CommandException> client =
          BackgroundCall.start(() -> ping("rediss://" + address, 1_000_000_000L));
      try (Socket connection = silent.accept();
          DataInputStream in = new DataInputStream(connection.getInputStream())) {
        assertEquals(0x16, in.read(), "a TLS handshake record");
        in.readShort();
        in.readNBytes(in.readUnsignedShort());

        assertTrue(isOver(in), "nothing follows the first one");
      }
      CommandException fault = client.get();
      assertEquals(Kind.UNREACHABLE, fault.kind());
      assertTrue(fault.isTimeOut());
      assertEquals(
          address
              + " did not answer to TLS in time; if it does not speak TLS on that port, use"
              + " redis:// instead of rediss://",
          fault.getMessage());
    }
  }

  private static boolean isOver(DataInputStream in) {
    try {
      return in.read() < 0;
    } catch (IOException reset) {
      return true;
    }
  }

  @Test
  void aPortThatAnswersToTlsInPlainIsToldAsThat() {
    try (RespServer server = RespServer.turningAway(error("ERR unknown command"))) {
      CommandException fault = ping(server.uri().replace("redis:", "rediss:"));

      assertEquals(Kind.UNREACHABLE, fault.kind());
      String message = fault.getMessage();
      assertTrue(message.startsWith("TLS with " + server.address() + " failed: "), message);
      assertTrue(message.endsWith("use redis:// instead of rediss://"), message);
    }
  }

  @Test
  void aServerThatHangsUpAtTheGreetingMayWantTls() {
    try (RespServer server =
        new RespServer(command -> RespServer.OK, welcome -> RespServer.HANG_UP)) {
      CommandException fault = ping(server.uri());

      assertEquals(Kind.UNREACHABLE, fault.kind());
      assertFalse(fault.mayHaveExecuted());
      assertTrue(
          fault.getMessage().startsWith(server.address() + " closed the connection at once: "),
          fault.getMessage());
      assertTrue(fault.getMessage().endsWith("use rediss:// instead of redis://"));
    }
  }

  @Test
  void aServerThatRefusesInTlsWantsTls() {
    try (RespServer server = RespServer.turningAway("\u0015\u0003\u0003\u0000\u0002\u0002F")) {
      CommandException fault = ping(server.uri());

      assertEquals(Kind.UNREACHABLE, fault.kind());
      assertEquals(
          server.address() + " wants TLS; use rediss:// instead of redis://", fault.getMessage());
    }
  }

  @Test
  void aServerOfAnotherKindIsToldAsThat() {
    try (RespServer server = RespServer.turningAway("<html><h1>400 Bad Request</h1></html>")) {
      CommandException fault = ping(server.uri());

      assertEquals(Kind.UNREACHABLE, fault.kind());
      assertEquals(
          server.address()
              + " does not speak the protocol of Redis (it answers with '<...'); check host and"
              + " port",
          fault.getMessage());
    }
  }

  @Test
  void theClientWasClosed() {
    try (RespServer server = new RespServer(command -> RespServer.OK);
        WorkerPool workers = new WorkerPool("test")) {
      Topology node = TopologyFactory.create(server.uri(), OPTIONS, workers);
      node.close();

      CommandException fault =
          assertThrows(CommandException.class, () -> TestCalls.ping(node, 1_000_000_000L));
      assertEquals(Kind.CLIENT_CLOSED, fault.kind());
      assertFalse(fault.kind().isTransient());
    }
  }
}
