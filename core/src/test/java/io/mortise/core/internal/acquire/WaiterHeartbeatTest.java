package io.mortise.core.internal.acquire;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
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
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When there is too much to send, heartbeats do not make it more. */
@Timeout(60)
class WaiterHeartbeatTest {
  private static final long HOUR_MILLIS = 3_600_000;

  /** As many as send to one server at a time. */
  private static final int BUSY_WORKERS = 8;

  private final CountDownLatch answered = new CountDownLatch(1);
  private final RespServer server = new RespServer(this::answer);
  private final RedisLockClient client = TestClients.of(server, LockOptions.defaults());
  private final LeaseContext context = client.context().lease();
  private final WorkerPool workers = new WorkerPool("test");
  private final BatchCollector batches =
      new BatchCollector(context.commands(), workers, context.ticker());

  private String answer(List<String> command) {
    Uninterruptibles.awaitUninterruptibly(answered);
    return RespServer.integers(List.of(1L));
  }

  @AfterEach
  void close() {
    answered.countDown();
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

  private void awaitHeard(String holder, int times) {
    await().atMost(BackgroundCall.LIVENESS).until(() -> heard(holder) == times);
  }

  @Test
  void oneThatWaitsToBeSentIsNotAddedAgain() {
    for (int i = 0; i < BUSY_WORKERS; i++) {
      send(heartbeat("busy" + i));
      awaitHeard("busy" + i, 1);
    }
    WaiterHeartbeat first = heartbeat("first");
    send(first);
    send(first);

    answered.countDown();

    for (int i = 0; i < 3; i++) { // a second one would be sent before these
      send(heartbeat("later" + i));
      awaitHeard("later" + i, 1);
    }
    assertEquals(1, heard("first"));
  }

  /** Its connection may be silent. */
  @Test
  void theNextOneDoesNotWaitForItsAnswer() {
    WaiterHeartbeat heartbeat = heartbeat("first");
    send(heartbeat);
    awaitHeard("first", 1);

    send(heartbeat);

    awaitHeard("first", 2);
  }

  @Test
  void thatOfAWaiterThatHasGoneIsNotSent() {
    WaiterHeartbeat heartbeat = heartbeat("first");
    assertTrue(heartbeat.isWanted());

    heartbeat.close();

    assertFalse(heartbeat.isWanted());
  }
}
