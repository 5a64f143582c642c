package io.mortise.core.internal.acquire;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.command.BatchCollector;
import io.mortise.connection.concurrent.Signal;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestCalls;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.spi.QueueingProtocol;
import io.mortise.core.spi.QueueingProtocol.Heartbeat;
import java.lang.reflect.Proxy;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When there is too much to send, heartbeats do not make it more. */
@Timeout(60)
class WaiterHeartbeatTest {
  private static final long HOUR_MILLIS = 3_600_000;

  private volatile String answer = RespServer.integers(List.of(1L));
  private final RespServer server = new RespServer(command -> answer);
  private final RedisLockClient client = TestClients.of(server, LockOptions.defaults());
  private final LeaseContext context = client.context().lease();
  private final WorkerPool workers = new WorkerPool("test");
  private final BatchCollector batches =
      new BatchCollector(context.commands(), workers, context.ticker());

  @AfterEach
  void close() {
    client.close();
    workers.close();
    server.close();
  }

  /** Its heartbeats come after an hour: the test sends them. */
  private WaiterHeartbeat heartbeat(String holder) {
    QueueingProtocol protocol =
        (QueueingProtocol)
            Proxy.newProxyInstance(
                QueueingProtocol.class.getClassLoader(),
                new Class<?>[] {QueueingProtocol.class},
                (proxy, method, arguments) ->
                    new Heartbeat(TestCalls.renew("orders", holder, 1000), HOUR_MILLIS));
    return new WaiterHeartbeat(
        context.scheduler(), batches, context.ticker(), protocol, holder, new Signal());
  }

  private void send(WaiterHeartbeat heartbeat) {
    heartbeat.onDue(context.nanos());
    batches.flush();
  }

  private long heard(String holder) {
    return server.heard().stream().filter(command -> command.contains(holder)).count();
  }

  @Test
  void oneThatIsNotAnsweredYetIsNotSentAgain() {
    answer = RespServer.SILENCE;
    try (WaiterHeartbeat first = heartbeat("first");
        WaiterHeartbeat second = heartbeat("second")) {
      send(first);
      send(first);
      send(second);

      await().atMost(BackgroundCall.LIVENESS).until(() -> heard("second") == 1);
      await().atMost(BackgroundCall.LIVENESS).until(() -> heard("first") > 0);
      assertEquals(1, heard("first"));
    }
  }

  @Test
  void afterItsAnswerTheNextOneIsSent() {
    try (WaiterHeartbeat heartbeat = heartbeat("first")) {
      await()
          .atMost(BackgroundCall.LIVENESS)
          .until(
              () -> {
                send(heartbeat);
                return heard("first") >= 3;
              });
    }
  }

  @Test
  void thatOfAWaiterThatHasGoneIsNotSent() {
    WaiterHeartbeat heartbeat = heartbeat("first");
    assertTrue(heartbeat.isWanted());

    heartbeat.close();

    assertFalse(heartbeat.isWanted());
  }
}
