package io.mortise.connection.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.base.Ticker;
import io.mortise.connection.testing.RespServer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.DefaultJedisSocketFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisSocketFactory;

/** The writes of a session whose connection is closed. */
@Timeout(60)
class SubscriberSessionTest {
  private final AtomicInteger connects = new AtomicInteger();
  private final RespServer server = new RespServer(RespServer::subscribed);
  private final SubscriberSession session =
      new SubscriberSession(connection(), false, new WritesAfterTheEnd(), Ticker.systemTicker());

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
  private static final class WritesAfterTheEnd implements SubscriberSession.Listener {
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
      session.run(List.of("first"));
    }

    assertEquals(1, connects.get());
  }
}
