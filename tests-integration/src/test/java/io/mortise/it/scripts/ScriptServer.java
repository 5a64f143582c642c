package io.mortise.it.scripts;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.scripts.Script;
import io.mortise.testkit.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.params.SetParams;

/** A server, a plain connection to it, and an ear for all that is published there. */
final class ScriptServer implements BeforeAllCallback, BeforeEachCallback, AfterAllCallback {
  private static final String END = "end-of-test";

  private final LinkedBlockingQueue<String> published = new LinkedBlockingQueue<>();
  private RedisServer server;
  private Jedis jedis;
  private Jedis ear;
  private JedisPubSub subscription;
  private Thread listener;

  @Override
  public void beforeAll(ExtensionContext context) throws InterruptedException {
    server = RedisServer.start();
    jedis = new Jedis(server.host(), server.port());
    ear = new Jedis(server.host(), server.port(), 0);
    subscription =
        new JedisPubSub() {
          @Override
          public void onPSubscribe(String pattern, int subscribedChannels) {
            published.add("ready");
          }

          @Override
          public void onPMessage(String pattern, String channel, String message) {
            published.add(channel + " " + message);
          }
        };
    listener = new Thread(() -> ear.psubscribe(subscription, "*"), "ear");
    listener.start();
    next();
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    heard(); // what the test before has published
  }

  @Override
  public void afterAll(ExtensionContext context) throws InterruptedException {
    subscription.punsubscribe();
    listener.join(10_000);
    ear.close();
    jedis.close();
    server.close();
  }

  Jedis jedis() {
    return jedis;
  }

  RedisServer server() {
    return server;
  }

  /** The keys of a lock that no other test uses. */
  static Keys fresh() {
    String name = "lua:" + UUID.randomUUID();
    return new Keys(
        name,
        "redisson_lock_token:{" + name + "}",
        "mortise_forced:{" + name + "}",
        "redisson_lock__channel:{" + name + "}");
  }

  record Keys(String lock, String token, String forced, String channel) {}

  Object run(String path, List<String> keys, Object... arguments) {
    return run(jedis, path, keys, arguments);
  }

  static Object run(Jedis connection, String path, List<String> keys, Object... arguments) {
    List<String> words = new ArrayList<>();
    for (Object argument : arguments) {
      words.add(argument.toString());
    }
    return connection.eval(new String(Script.load(path).text(), UTF_8), keys, words);
  }

  // ---- the scripts, by what they take

  List<?> acquire(Keys keys, String holder, long lease) {
    return acquire(keys, holder, lease, 600_000, 1);
  }

  List<?> acquire(Keys keys, String holder, long lease, long tokenIdle, long count) {
    return (List<?>)
        run("lock/acquire", List.of(keys.lock(), keys.token()), holder, lease, tokenIdle, count);
  }

  /** All of them, in that order. */
  List<?> acquireAll(List<Keys> locks, String holder, long lease) {
    List<String> names = new ArrayList<>();
    List<Object> arguments = new ArrayList<>();
    for (Keys keys : locks) {
      names.addAll(List.of(keys.lock(), keys.token()));
      arguments.addAll(List.of(holder, lease, 600_000));
    }
    return (List<?>) run("lock/acquire_all", names, arguments.toArray());
  }

  long raise(Keys keys, String field, String token, long tokenIdle) {
    return (Long) run("lock/raise", List.of(keys.lock(), keys.token()), field, token, tokenIdle);
  }

  List<?> release(Keys keys, String holder) {
    return (List<?>)
        run("lock/release", List.of(keys.lock(), keys.channel(), keys.forced()), holder, "PUBLISH");
  }

  long force(Keys keys, long markMillis) {
    return (Long)
        run(
            "lock/force",
            List.of(keys.lock(), keys.channel(), keys.forced()),
            "PUBLISH",
            markMillis);
  }

  long inspect(Keys keys) {
    return (Long) run("lock/inspect", List.of(keys.lock()));
  }

  /** Renews one hold. */
  long renew(Keys keys, String holder, long lease) {
    List<?> answer =
        (List<?>) run("lock/renew", List.of(keys.lock(), keys.forced()), holder, lease);
    return (Long) answer.get(0);
  }

  // ---- what a lock can stand in

  void hold(Keys keys, String holder, long ttlMillis) {
    jedis.hset(keys.lock(), holder, "1");
    jedis.pexpire(keys.lock(), ttlMillis);
  }

  void holdForEver(Keys keys, String holder) {
    jedis.hset(keys.lock(), holder, "1");
  }

  void holdForReading(Keys keys, String reader) {
    jedis.hset(keys.lock(), Map.of("mode", "read", reader, "1"));
    jedis.pexpire(keys.lock(), 30_000);
  }

  /** A string that ends by itself. */
  void put(String key, String value, long ttlMillis) {
    jedis.set(key, value, SetParams.setParams().px(ttlMillis));
  }

  void putStringInTheWay(Keys keys) {
    jedis.set(keys.lock(), "a string");
  }

  /** The key has about that TTL, and not more. */
  void assertTtl(String key, long millis) {
    long left = jedis.pttl(key);
    if (left > millis || left <= millis - 5_000) {
      throw new AssertionError(key + " lives for " + left + " ms, not for " + millis);
    }
  }

  /** What was published since the last call: {@code channel payload}. */
  List<String> heard() {
    jedis.publish(END, "");
    List<String> messages = new ArrayList<>();
    for (String message = next(); !message.equals(END + " "); message = next()) {
      messages.add(message);
    }
    return messages;
  }

  private String next() {
    try {
      String message = published.poll(10, TimeUnit.SECONDS);
      if (message == null) {
        throw new AssertionError("the subscriber hears nothing");
      }
      return message;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
