package io.mortise.it.rwlock;

import static org.awaitility.Awaitility.await;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** One server, and two clients that share nothing else, as two processes. */
final class TwoClients implements AutoCloseable {
  /** So short that a test can see a dead waiter's end. */
  static final Duration SHORT_PRESENCE = Duration.ofSeconds(1);

  /** So long that no sign of life wakes anybody in place of a message that was forgotten. */
  static final Duration NO_SIGNS = Duration.ofHours(1);

  /** How late anything may be on a busy machine. */
  static final Duration SLACK = Duration.ofSeconds(10);

  /** What ends by itself only long after a test is over. */
  static final Duration LONG = Duration.ofMinutes(2);

  final RedisServer server = RedisServer.start();
  final Duration lease;
  final Duration presence;
  final LockClient here;
  final LockClient there;

  TwoClients(Duration lease, Duration presence) {
    this.lease = lease;
    this.presence = presence;
    here = client();
    there = client();
  }

  /** Each reader speaks for itself: what is shared inside a client is not the matter here. */
  LockClient client() {
    return LockClient.create(
        server.uri(), LockOptions.builder().lease(lease).maxHandOffs(0).build());
  }

  static String freshName() {
    return "rw:" + UUID.randomUUID();
  }

  RedisReadWriteLock here(String name, boolean fair) {
    return new RedisReadWriteLock(here, name, fair, presence);
  }

  RedisReadWriteLock there(String name, boolean fair) {
    return new RedisReadWriteLock(there, name, fair, presence);
  }

  /** How many of that family's waiters of that name have shown themselves in Redis. */
  long waiters(String name) {
    LockName keys = new LockName(name);
    return number("ZCARD", keys.derive("mortise_read_waiters"))
        + number("EXISTS", keys.derive("mortise_write_intent"))
        + number("ZCARD", keys.derive("redisson_lock_timeout"));
  }

  void awaitWaiters(String name, long count) {
    await().pollInterval(Duration.ofMillis(2)).atMost(SLACK).until(() -> waiters(name) == count);
  }

  long number(String... command) {
    return (Long) server.command(command);
  }

  long millisLeft(String key) {
    return number("PTTL", key);
  }

  /** All keys of that name, marks and tokens left out, which live on for a while. */
  List<String> keys(String lockName) {
    List<String> keys = new ArrayList<>();
    for (Object key : (List<?>) server.command("KEYS", "*")) {
      String name = (String) key;
      if (name.contains(lockName)
          && !name.startsWith("redisson_lock_token:")
          && !name.startsWith("mortise_forced")
          && !name.startsWith("redisson_unlock_latch:")) {
        keys.add(name);
      }
    }
    return keys;
  }

  @Override
  public void close() {
    here.close();
    there.close();
    server.close();
  }
}
