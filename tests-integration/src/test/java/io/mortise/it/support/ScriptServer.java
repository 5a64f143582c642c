package io.mortise.it.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import io.mortise.testkit.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPubSub;

/** A server, a plain connection to it on which scripts run, and all messages that are published. */
public class ScriptServer implements BeforeAllCallback, BeforeEachCallback, AfterAllCallback {
  private static final String END = "end-of-test";

  private final LinkedBlockingQueue<String> messages = new LinkedBlockingQueue<>();
  private RedisServer server;
  private Jedis jedis;
  private Jedis subscriber;
  private JedisPubSub subscription;
  private Thread listener;

  @Override
  public void beforeAll(ExtensionContext context) throws InterruptedException {
    server = RedisServer.start();
    jedis = new Jedis(server.host(), server.port());
    subscriber = new Jedis(server.host(), server.port(), 0);
    subscription =
        new JedisPubSub() {
          @Override
          public void onPSubscribe(String pattern, int subscribedChannels) {
            messages.add("ready");
          }

          @Override
          public void onPMessage(String pattern, String channel, String message) {
            messages.add(channel + " " + message);
          }
        };
    listener = new Thread(() -> subscriber.psubscribe(subscription, "*"), "subscriber");
    listener.start();
    next();
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    published(); // those of the test before
  }

  @Override
  public void afterAll(ExtensionContext context) throws InterruptedException {
    subscription.punsubscribe();
    listener.join(10_000);
    subscriber.close();
    jedis.close();
    server.close();
  }

  public Jedis jedis() {
    return jedis;
  }

  public RedisServer server() {
    return server;
  }

  public Object run(String path, List<String> keys, Object... arguments) {
    return run(jedis, path, keys, arguments);
  }

  /** Runs the items of one script together, as they are sent to a server that is no cluster. */
  public Object run(ScriptCall... items) {
    List<String> keys = new ArrayList<>();
    List<Object> arguments = new ArrayList<>();
    for (ScriptCall item : items) {
      item.keys().forEach(key -> keys.add(new String(key, UTF_8)));
      item.arguments()
          .forEach(
              word ->
                  arguments.add(ScriptCall.isPublish(word) ? "PUBLISH" : new String(word, UTF_8)));
    }
    return run(items[0].script().path(), keys, arguments.toArray());
  }

  /** Runs a script on the connection of the server itself. */
  public static Object run(
      RedisServer server, String path, List<String> keys, Object... arguments) {
    List<String> words = new ArrayList<>();
    words.add("EVAL");
    words.add(new String(Script.load(path).text(), UTF_8));
    words.add(Integer.toString(keys.size()));
    words.addAll(keys);
    for (Object argument : arguments) {
      words.add(argument.toString());
    }
    return server.command(words.toArray(String[]::new));
  }

  /** Runs a script on that connection. */
  public static Object run(Jedis connection, String path, List<String> keys, Object... arguments) {
    List<String> words = new ArrayList<>();
    for (Object argument : arguments) {
      words.add(argument.toString());
    }
    return connection.eval(new String(Script.load(path).text(), UTF_8), keys, words);
  }

  /** The key has about that TTL, and not more. */
  public void assertTtl(String key, long millis) {
    long left = jedis.pttl(key);
    if (left > millis || left <= millis - 5_000) {
      throw new AssertionError(key + " lives for " + left + " ms, not for " + millis);
    }
  }

  /** Returns the messages since the last call, each as {@code channel payload}. */
  public List<String> published() {
    jedis.publish(END, "");
    List<String> published = new ArrayList<>();
    for (String message = next(); !message.equals(END + " "); message = next()) {
      published.add(message);
    }
    return published;
  }

  /** Waits until the clock of the server shows another millisecond. */
  public void awaitNextMillisecond() {
    long millis = millis();
    while (millis() == millis) {
      Thread.onSpinWait();
    }
  }

  private long millis() {
    List<String> time = jedis.time();
    return Long.parseLong(time.get(0)) * 1_000 + Long.parseLong(time.get(1)) / 1_000;
  }

  private String next() {
    try {
      String message = messages.poll(10, TimeUnit.SECONDS);
      if (message == null) {
        throw new AssertionError("no message comes");
      }
      return message;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
