package io.mortise.it.support;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.scripts.Script;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisServer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** One server for all tests of a class, and what they ask it. */
@SuppressWarnings("LockNotBeforeTry") // what fails in between ends the test
public final class SharedRedis implements BeforeAllCallback, AfterAllCallback {
  private static final LockClient.Status NOTHING = new LockClient.Status(0, 0, 0, 0, 0, 0);

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

  /** A client that holds and releases beside the one that is tested. */
  public LockClient client() {
    return LockClient.create(server.uri());
  }

  /** Connects the client, and makes the server know the scripts. */
  public static void warm(LockClient client) {
    RedisLock lock = new RedisLock(client, freshName());
    lock.lock();
    lock.unlock();
  }

  /** Requests that run this script. */
  public static Predicate<byte[]> calling(String script) {
    return FaultProxy.containing(new String(Script.load(script).sha1(), UTF_8));
  }

  /** The client comes to have nothing in hand at all. */
  public static void assertIdle(LockClient client) {
    Eventually.untilAsserted(
        "the client has nothing in hand", () -> assertEquals(NOTHING, client.status()));
  }

  /** A name that no other test uses. */
  public static String freshName() {
    return Names.fresh();
  }

  public boolean exists(String key) {
    return Objects.equals(1L, server.command("EXISTS", key));
  }

  /** The holders in Redis. */
  public List<?> holders(String lock) {
    return (List<?>) Objects.requireNonNull(server.command("HKEYS", lock));
  }

  public long ttlMillis(String key) {
    return (Long) Objects.requireNonNull(server.command("PTTL", key));
  }

  /** How many connections are subscribed to the lock's channel. */
  public long subscribers(String lock) {
    List<?> answer =
        (List<?>) Objects.requireNonNull(server.command("PUBSUB", "NUMSUB", channel(lock)));
    return (Long) answer.get(1);
  }

  public static String channel(String lock) {
    return "redisson_lock__channel:{" + lock + "}";
  }

  /** Sets the lock held by somebody who is no client of ours, without a TTL. */
  public void holdAsStranger(String lock) {
    server.command("HSET", lock, "stranger:1", "1");
  }

  public void holdAsStranger(String lock, long ttlMillis) {
    holdAsStranger(lock);
    server.command("PEXPIRE", lock, Long.toString(ttlMillis));
  }

  /** What a stranger's release does. */
  public void releaseAsStranger(String lock) {
    server.command("DEL", lock);
    server.command("PUBLISH", channel(lock), "0");
  }

  public long calls(String command) {
    return server.commandStats().getOrDefault(command, 0L);
  }

  /** The commands that clients sent since the last reset, without those inside our scripts. */
  public Map<String, Long> sent() {
    Map<String, Long> stats = server.commandStats();
    stats
        .keySet()
        .removeAll(
            List.of(
                "hlen", "hexists", "hset", "pttl", "pexpire", "time", "get", "set", "del",
                "publish"));
    return stats;
  }
}
