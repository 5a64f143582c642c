package io.mortise.core.internal.acquire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.spi.CallerWait;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.ProtocolLeaseSource;
import io.mortise.scripts.Script;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An error after the grant, before the caller has the lease, leaves no hold without a holder. */
@Timeout(60)
class ErrorAfterGrantTest {
  private final RespServer server = new RespServer(ErrorAfterGrantTest::answer);
  private final RedisLockClient client = TestClients.of(server, LockOptions.defaults());
  private final LockProtocol protocol = new FakeProtocol("orders");
  private final OutOfMemoryError error = new OutOfMemoryError("of the test");
  private boolean granted;

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private static String answer(List<String> command) {
    return RespServer.integers(
        command.get(1).equals(sha1("lock/acquire")) ? List.of(1L, 42L, 0L) : List.of(1L, 0L));
  }

  private static String sha1(String script) {
    return new String(Script.load(script).sha1(), UTF_8);
  }

  /** A protocol whose holds are shared; to share one, the engine asks for the kind, and fails. */
  private Object call(Method method, Object[] arguments) throws Throwable {
    if (method.getName().equals("allowsSharing")) {
      return true;
    }
    if (method.getName().equals("kind") && granted) {
      throw error;
    }
    granted |= method.getName().equals("outcome");
    try {
      return method.invoke(protocol, arguments);
    } catch (InvocationTargetException e) {
      throw e.getTargetException();
    }
  }

  @Test
  void theHoldIsReleasedAndNotRenewed() {
    LockProtocol failing =
        (LockProtocol)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {LockProtocol.class},
                (proxy, method, arguments) -> call(method, arguments));
    ProtocolLeaseSource source = ProtocolLeaseSource.of(client, failing);
    LeaseTerms terms = LeaseTerms.of(client.options(), Duration.ZERO, null, true);

    assertSame(error, assertThrows(OutOfMemoryError.class, () -> source.acquire(terms, null)));

    assertTrue(granted);
    awaitRelease();
    granted = false;
    assertEquals(0, client.status().contended(), "the local queue is free");
  }

  private void awaitRelease() {
    await()
        .atMost(BackgroundCall.LIVENESS)
        .until(
            () ->
                server.heard().stream()
                    .anyMatch(command -> command.get(1).equals(sha1("lock/release"))));
    await().atMost(BackgroundCall.LIVENESS).until(() -> client.status().pendingReleases() == 0);
    assertEquals(0, client.status().holds());
  }

  /** As one whose interrupt closes a socket, and may not. */
  private final class RefusesInterrupt extends Thread {
    private final AtomicReference<Throwable> thrown = new AtomicReference<>();

    @Override
    public void interrupt() {
      if (isCalledBy(CallerWait.class)) { // and not by a class loader
        throw error;
      }
      super.interrupt();
    }

    @Override
    public void run() {
      interrupt();
      LeaseTerms uninterruptible = LeaseTerms.of(client.options(), Duration.ZERO, null, false);
      try {
        ProtocolLeaseSource.of(client, protocol).acquire(uninterruptible, this);
      } catch (Throwable e) {
        thrown.set(e);
      }
    }
  }

  private static boolean isCalledBy(Class<?> caller) {
    return StackWalker.getInstance()
        .walk(frames -> frames.anyMatch(each -> each.getClassName().equals(caller.getName())));
  }

  @Test
  void theHoldOfAThreadThatRefusesItsInterruptIsReleased() throws Exception {
    RefusesInterrupt thread = new RefusesInterrupt();
    thread.setDaemon(true);
    thread.start();
    thread.join(BackgroundCall.LIVENESS.toMillis());

    assertSame(error, thread.thrown.get());
    awaitRelease();
  }
}
