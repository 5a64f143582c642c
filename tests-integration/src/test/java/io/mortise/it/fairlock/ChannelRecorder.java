package io.mortise.it.fairlock;

import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** Everything that is published on the channels of locks, as {@code channel payload}. */
final class ChannelRecorder implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final String CHANNELS = "redisson_lock__channel:";

  private final RedisServer server;
  private final Jedis connection;
  private final BlockingQueue<String> messages = new LinkedBlockingQueue<>();
  private final CountDownLatch subscribed = new CountDownLatch(1);

  ChannelRecorder(RedisServer server) throws InterruptedException {
    this.server = server;
    this.connection = new Jedis(server.host(), server.port(), 20_000);
    Thread reader = new Thread(this::listen, "heard");
    reader.setDaemon(true);
    reader.start();
    if (!subscribed.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new AssertionError("not subscribed after " + PATIENCE);
    }
  }

  private void listen() {
    JedisPubSub listener =
        new JedisPubSub() {
          @Override
          public void onPSubscribe(String pattern, int channels) {
            subscribed.countDown();
          }

          @Override
          public void onPMessage(String pattern, String channel, String message) {
            messages.add(channel + " " + message);
          }
        };
    try {
      connection.psubscribe(listener, CHANNELS + "*");
    } catch (JedisConnectionException closed) {
      messages.add("closed");
    }
  }

  /** What was published since the last call, in order. */
  List<String> all() throws InterruptedException {
    String mark = CHANNELS + UUID.randomUUID();
    server.command("PUBLISH", mark, "end");
    List<String> heard = new ArrayList<>();
    while (true) {
      String message = messages.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      if (message == null) {
        throw new AssertionError("no message came within " + PATIENCE);
      }
      if (message.startsWith(mark)) {
        return heard;
      }
      heard.add(message);
    }
  }

  @Override
  public void close() {
    connection.disconnect();
  }
}
