package io.mortise.core.internal.lease;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.RespServer;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.scripts.Script;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FencingTokenTest {
  private static final String RAISE = new String(Script.load("lock/raise").sha1(), UTF_8);
  private static final String RAISED = ":1\r\n";
  private static final String NO_SUCH_HOLD = ":0\r\n";

  private volatile String answer = RAISED;
  private final RespServer server = new RespServer(command -> answer);
  private final RedisLockClient client = TestClients.of(server, LockOptions.defaults());
  private final FakeProtocol protocol = new FakeProtocol("orders");
  private final FencingToken token =
      new FencingToken(
          client.context().lease().commands(),
          client.options().tuning().tokenRetention(),
          new HoldIdentity(protocol, "client:1", null),
          7,
          5);

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  @Test
  void itBeginsWithTheTokenOfTheGrant() {
    assertEquals(7, token.get());
    assertEquals(5, token.last());
    assertFalse(token.wasRaised());
  }

  @Test
  void aRaiseThatRedisConfirmsIsKept() {
    assertTrue(token.raise(9));

    assertEquals(9, token.get());
    assertEquals(5, token.last());
    assertTrue(token.wasRaised());
    List<String> command =
        server.heard().stream().filter(heard -> heard.contains(RAISE)).findFirst().orElseThrow();
    String retention = Long.toString(LockOptions.defaults().tuning().tokenRetention().toMillis());
    assertEquals(
        List.of("orders", protocol.name().tokenKey(), "client:1", "9", retention),
        command.subList(command.size() - 5, command.size()));
  }

  @Test
  void itNeverBecomesSmaller() {
    assertTrue(token.raise(6));

    assertEquals(7, token.get());
    assertFalse(token.wasRaised());
  }

  @Test
  void aHoldThatRedisDoesNotKnowKeepsItsToken() {
    answer = NO_SUCH_HOLD;

    assertFalse(token.raise(9));

    assertEquals(7, token.get());
  }

  @Test
  void aRaiseThatRedisRefusesSaysSo() {
    answer = RespServer.error("NOPERM on purpose");

    LockException thrown = assertThrows(LockException.class, () -> token.raise(9));

    assertEquals(Reason.ACCESS_DENIED, thrown.reason());
    String start = "lock 'orders': held, but its fencing token could not be raised: ";
    assertTrue(thrown.getMessage().startsWith(start), thrown::getMessage);
    assertEquals(7, token.get());
  }
}
