package io.mortise.core.internal.acquire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.engine.RedisLeaseSource;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.internal.lease.FragileTicker;
import io.mortise.core.internal.lease.TestContext;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import io.mortise.scripts.Script;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An error after Redis has said that the caller waits in its queue leaves no place there. */
@Timeout(60)
class ErrorAfterBusyTest {
  private static final String RELEASE = new String(Script.load("lock/release").sha1(), UTF_8);

  private final RespServer server = new RespServer(command -> RespServer.integers(List.of(1L, 0L)));
  private final RedisLockClient client = TestClients.of(server, LockOptions.defaults());
  private final FragileTicker ticker = new FragileTicker(client.context().lease().ticker());
  private final LockProtocol protocol = new FakeProtocol("orders");

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  /** A protocol whose attempts join a queue; the next look at the clock finds the heap full. */
  private Object call(Method method, Object[] arguments) throws Throwable {
    if (method.getName().equals("outcome")) {
      ticker.fillHeapOnce();
      return new AcquireResult.Queued(OptionalLong.of(60_000));
    }
    try {
      return method.invoke(protocol, arguments);
    } catch (InvocationTargetException e) {
      throw e.getTargetException();
    }
  }

  @Test
  void thePlaceInTheQueueIsLeft() {
    LockProtocol queueing =
        (LockProtocol)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {LockProtocol.class},
                (proxy, method, arguments) -> call(method, arguments));
    AcquireContext of = client.context();
    AcquireContext context =
        new AcquireContext(
            new TestContext(of.lease()).ticker(ticker).build(),
            of.queues(),
            of.sharedHolds(),
            of.runWaiters(),
            of.subscriptions(),
            of.fairness(),
            of.holderIds(),
            new AtomicInteger());
    LeaseTerms terms = LeaseTerms.of(client.options(), Duration.ofMinutes(1), null, true);
    RedisLeaseSource source = RedisLeaseSource.of(client, queueing);

    assertThrows(
        OutOfMemoryError.class, () -> Acquisition.acquire(context, source, queueing, terms, null));

    assertEquals(1, ticker.failures());
    await().atMost(BackgroundCall.LIVENESS).until(() -> client.status().pendingReleases() == 0);
    assertTrue(
        server.heard().stream().anyMatch(command -> command.get(1).equals(RELEASE)),
        "its place in the queue");
    assertEquals(0, client.status().contended(), "the local queue is free");
  }
}
