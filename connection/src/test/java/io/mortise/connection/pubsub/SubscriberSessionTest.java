package io.mortise.connection.pubsub;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.common.base.Ticker;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import java.util.AbstractList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.DefaultJedisSocketFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** The writes of a session whose connection is closed, or which an error has interrupted. */
@Timeout(60)
class SubscriberSessionTest {
  private final AtomicInteger connects = new AtomicInteger();
  private final RespServer server = new RespServer(RespServer::subscribed);

  private SubscriberSession session(SubscriberSession.Listener listener) {
    return new SubscriberSession(connection(), false, listener, Ticker.systemTicker());
  }

  private Connection connection() {
    HostAndPort address = HostAndPort.from(server.address());
    JedisSocketFactory sockets = new DefaultJedisSocketFactory(address);
    return new Connection(
        () -> {
          connects.incrementAndGet();
          return sockets.createSocket();
        },
        DefaultJedisClientConfig.builder().build());
  }

  /** Ends the session at the first answer, on its own thread, and then writes. */
  private static class WritesAfterTheEnd implements SubscriberSession.Listener {
    @Override
    public void confirmed(SubscriberSession by, String channel) {
      by.end();
      by.subscribe(List.of("second"));
      by.unsubscribe(List.of(channel));
      by.heartbeat(Ticker.systemTicker().read(), 0, 1, channel);
    }

    @Override
    public void message(String channel) {}

    @Override
    public void unsubscribed() {}

    @Override
    public void dropped(String channel) {}
  }

  /** Jedis connects for a write, and the lock that all waiters need is held meanwhile. */
  @Test
  void aWriteAfterTheEndMakesNoConnection() {
    try (server) {
      session(new WritesAfterTheEnd()).run(List.of("first"));
    }

    assertEquals(1, connects.get());
  }

  /** Channels for which there is no memory when they are written. */
  private static final class NoMemory extends AbstractList<String> {
    @Override
    public String get(int index) {
      return "second";
    }

    @Override
    public int size() {
      return 1;
    }

    @Override
    public <T> T[] toArray(T[] into) {
      throw new OutOfMemoryError("on purpose");
    }
  }

  /** The session counts the answer to a command that it has not sent, and would wait for it. */
  @Test
  void anErrorInAWriteEndsTheSession() {
    SubscriberSession session =
        session(
            new WritesAfterTheEnd() {
              @Override
              public void confirmed(SubscriberSession by, String channel) {
                assertThrows(OutOfMemoryError.class, () -> by.unsubscribe(new NoMemory()));
              }
            });
    try (server) {
      BackgroundCall<Void> reading =
          BackgroundCall.start(
              () -> {
                session.run(List.of("first"));
                return null;
              });
      await().atMost(BackgroundCall.LIVENESS).until(reading::isDone);
      assertInstanceOf(
          JedisConnectionException.class,
          assertThrows(ExecutionException.class, reading::get).getCause());
    }
  }
}
