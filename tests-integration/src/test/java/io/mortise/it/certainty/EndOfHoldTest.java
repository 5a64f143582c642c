package io.mortise.it.certainty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.EngineTypes;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is said of a hold that ends while it is released, and of a client that was closed. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class EndOfHoldTest {
  private static final LockClient.Status NOTHING = new LockClient.Status(0, 0, 0, 0, 0, 0);

  private static RedisServer server;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void aHoldWhoseTimeRunsOutDuringItsReleaseHasExpired() {
    try (FaultProxy proxy = FaultProxy.to(server);
        LockClient client = LockClient.create(proxy.uri())) {
      RedisLock lock = new RedisLock(client, Names.fresh());
      lock.lock(Duration.ofMillis(500));
      proxy.delay(Direction.TO_SERVER, Duration.ofMillis(700));

      LeaseLoss loss = assertThrows(LeaseLostException.class, lock::unlock).loss();

      assertEquals(LeaseLoss.Reason.EXPIRED, loss.reason(), loss.detail());
    }
  }

  @Test
  void aClosedClientHasNothing() throws Exception {
    LockClient holder = LockClient.create(server.uri());
    LockClient client = LockClient.create(server.uri());
    RedisLock plain = new RedisLock(client, Names.fresh());
    RedisFairLock fair = new RedisFairLock(client, Names.fresh());
    RedisFairLock taken = new RedisFairLock(holder, fair.name());
    taken.lock();
    plain.lock();
    AsyncCall<Void> waiter =
        AsyncCall.start(
            () -> {
              fair.lock();
              return null;
            });
    AsyncCall<Void> inLine =
        AsyncCall.start(
            () -> {
              plain.lock();
              return null;
            });
    Eventually.until("it waits in the queue", () -> taken.queueLength() == 1);
    inLine.awaitIn(EngineTypes.QUEUE);

    client.close();

    assertThrows(LockException.class, waiter::get);
    assertThrows(LockException.class, inLine::get);
    assertThrows(LeaseLostException.class, plain::unlock);
    Eventually.untilAsserted("nothing is left", () -> assertEquals(NOTHING, client.status()));
    taken.unlock();
    holder.close();
  }
}
