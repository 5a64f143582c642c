package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.spi.LockName;
import io.mortise.it.support.ScriptServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import org.junit.jupiter.api.function.Executable;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.params.SetParams;

/** A server on which the scripts of the plain lock run, without any client. */
final class LockScripts extends ScriptServer {
  /** Returns the keys of a lock that no other test uses. */
  static Keys freshKeys() {
    LockName name = new LockName("lua:" + UUID.randomUUID());
    return new Keys(
        name.value(),
        name.tokenKey(),
        name.forcedKey(),
        name.derive("redisson_lock__channel"),
        name.waitersKey());
  }

  record Keys(String lock, String token, String forced, String channel, String waiters) {
    /** Returns the keys of a release. */
    List<String> ofRelease() {
      return List.of(lock, channel, forced, waiters);
    }

    /** Returns the keys of an acquisition. */
    List<String> ofAcquire() {
      return List.of(lock, token, waiters);
    }
  }

  // ---- the scripts

  List<?> acquire(Keys keys, String holder, long lease) {
    return acquire(keys, holder, lease, 600_000, 1);
  }

  List<?> acquire(Keys keys, String holder, long lease, long tokenIdle, long count) {
    return (List<?>) run("lock/acquire", keys.ofAcquire(), holder, lease, tokenIdle, count, 0);
  }

  /** An attempt of one that waits when the lock is busy. */
  List<?> await(Keys keys, String holder, long lease) {
    return (List<?>) run("lock/acquire", keys.ofAcquire(), holder, lease, 600_000, 1, 1);
  }

  long notifyNext(Keys keys) {
    return (Long)
        run("lock/notify", List.of(keys.lock(), keys.channel(), keys.waiters()), "PUBLISH");
  }

  /** Acquires all of them, in that order. */
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
    return (List<?>) run("lock/release", keys.ofRelease(), holder, "PUBLISH");
  }

  List<?> keep(Keys keys, String holder, long rest) {
    return (List<?>) run("lock/keep", keys.ofRelease(), holder, "PUBLISH", rest);
  }

  long force(Keys keys, long markMillis) {
    return (Long) run("lock/force", keys.ofRelease(), "PUBLISH", markMillis);
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

  // ---- states and checks

  void hold(Keys keys, String holder, long ttlMillis) {
    holdWithoutTtl(keys, holder);
    jedis().pexpire(keys.lock(), ttlMillis);
  }

  void holdWithoutTtl(Keys keys, String holder) {
    jedis().hset(keys.lock(), holder, "1");
  }

  /** Sets a string with a TTL. */
  void put(String key, String value, long ttlMillis) {
    jedis().set(key, value, SetParams.setParams().px(ttlMillis));
  }

  /** The time of the server, in microseconds. */
  long micros() {
    List<String> time = jedis().time();
    return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
  }

  /**
   * Asserts that a script that should end a hold answers that it has ended none, publishes nothing
   * and leaves the lock as it was.
   */
  void assertEndsNothing(Keys keys, long answer, Supplier<List<?>> script) {
    Map<String, String> before = jedis().hgetAll(keys.lock());
    long ttl = jedis().pttl(keys.lock());

    assertEquals(List.of(answer, 0L), script.get());

    assertEquals(List.of(), published(), "nobody is notified");
    assertEquals(before, jedis().hgetAll(keys.lock()));
    assertTrue(jedis().pttl(keys.lock()) >= Math.min(ttl, ttl - 5_000));
  }

  /** The script fails with that error: one of its own, or one of Redis inside it. */
  static void assertRefused(String error, Executable script) {
    String message = assertThrows(JedisDataException.class, script).getMessage();
    String locktype = "LOCKTYPE the name is held as a read-write lock";
    assertTrue(
        error.equals("LOCKTYPE") ? message.startsWith(locktype) : message.contains(error), message);
  }
}
