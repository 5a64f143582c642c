package io.mortise.it.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.scripts.Script;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** One server for all tests of a class, and the commands that they send to it. */
public final class SharedRedis implements BeforeAllCallback, AfterAllCallback {
  private RedisServer server;

  @Override
  public void beforeAll(ExtensionContext context) {
    server = RedisServer.start();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    server.close();
  }

  public RedisServer server() {
    return server;
  }

  public String uri() {
    return server.uri();
  }

  /** Opens a client that is connected directly. */
  public LockClient client() {
    return LockClient.create(server.uri());
  }

  /** Connects the client, and makes the server know the scripts. */
  public static void warm(LockClient client) {
    LateAnswer.repeatRelease(
        () -> {
          RedisLock lock = new RedisLock(client, Names.fresh());
          lock.lock();
          return lock::unlock;
        });
  }

  /** Returns a predicate of the requests that run this script. */
  public static Predicate<byte[]> calling(String script) {
    return FaultProxy.containing(new String(Script.load(script).sha1(), UTF_8));
  }

  /** Runs one command over its own connection. */
  public Object command(String... words) {
    return server.command(words);
  }

  public boolean exists(String key) {
    return command("EXISTS", key).equals(1L);
  }

  public void delete(String key) {
    command("DEL", key);
  }

  /** Returns the ids of the holders. */
  public List<?> holders(String lock) {
    return (List<?>) command("HKEYS", lock);
  }

  public long ttlMillis(String key) {
    return (Long) command("PTTL", key);
  }

  /** Returns how many connections are subscribed for those that wait for the plain lock. */
  public long subscribers(String lock) {
    return subscribers(server, lock);
  }

  /** Returns how many connections are subscribed there for those that wait for the plain lock. */
  public static long subscribers(RedisServer server, String lock) {
    return ((List<?>) server.command("PUBSUB", "CHANNELS"))
        .stream()
            .map(Object::toString)
            .filter(channel -> isWaitedAt(channel, lock))
            .mapToLong(channel -> subscribersOf(server, channel))
            .sum();
  }

  private static long subscribersOf(RedisServer server, String channel) {
    return (Long) ((List<?>) server.command("PUBSUB", "NUMSUB", channel)).get(1);
  }

  /** Returns whether clients that wait for the plain lock subscribe that channel. */
  public static boolean isWaitedAt(Object channel, String lock) {
    return channel.equals(channel(lock))
        || channel.toString().matches(Pattern.quote(channel(lock)) + ":[^:]{36}");
  }

  /** Waits until exactly one connection is subscribed for those that wait. */
  public void awaitSubscriber(String lock) {
    Eventually.until("one connection is subscribed", () -> subscribers(lock) == 1);
  }

  /** Returns the ids of the connections that are subscribed to a channel. */
  public String subscribedConnections() {
    String list = (String) command("CLIENT", "LIST", "TYPE", "pubsub");
    return String.join("\n", list.lines().map(line -> line.split(" ", 2)[0]).toList());
  }

  public static String channel(String lock) {
    return "redisson_lock__channel:{" + lock + "}";
  }

  /** Makes the lock held, without a TTL, by a holder that is no client of Mortise. */
  public void holdAsStranger(String lock) {
    command("HSET", lock, "stranger:1", "1");
  }

  public void holdAsStranger(String lock, long ttlMillis) {
    holdAsStranger(lock);
    command("PEXPIRE", lock, Long.toString(ttlMillis));
  }

  /** Starts a thread that renews the hold of such a holder again and again for that time. */
  public AsyncCall<Void> renewAsStranger(String lock, long ttlMillis, Duration time) {
    return AsyncCall.run(
        () ->
            Eventually.holdsFor(
                time,
                "renewed",
                () -> command("PEXPIRE", lock, Long.toString(ttlMillis)).equals(1L)));
  }

  /** Releases the lock as such a holder does. */
  public void releaseAsStranger(String lock) {
    delete(lock);
    command("PUBLISH", channel(lock), "0");
  }

  /**
   * Starts a call that waits, and awaits its attempts before and after the subscription. There is
   * one more if the confirmation comes late.
   */
  public <T> AsyncCall<T> waiting(Callable<T> wait) {
    resetStats();
    AsyncCall<T> call = AsyncCall.start(wait);
    Eventually.until("it has attempted twice", () -> calls("evalsha") >= 2);
    return call.awaitParked();
  }

  public void resetStats() {
    server.resetStats();
  }

  /** Returns how often a command was called since the last reset. */
  public long calls(String command) {
    return server.commandStats().getOrDefault(command, 0L);
  }

  /** Returns the commands that clients sent since the last reset, without those in scripts. */
  public Map<String, Long> sent() {
    Map<String, Long> stats = server.commandStats();
    stats
        .keySet()
        .removeAll(
            List.of(
                "hlen", "hexists", "hset", "pttl", "pexpire", "time", "get", "set", "del",
                "publish", "zscore", "zrange"));
    return stats;
  }
}
