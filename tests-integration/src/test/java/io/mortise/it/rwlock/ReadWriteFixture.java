package io.mortise.it.rwlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import io.mortise.it.support.ClientRecords;
import io.mortise.it.support.TwoClients;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The read-write lock of one test, as two clients see it: its objects, its keys in Redis, and
 * threads that end with the test. A test that leaves a key fails.
 */
final class ReadWriteFixture implements AfterEachCallback {
  /** Short enough for a test to see the time-out of a dead waiter; no living one is as late. */
  static final Duration SHORT_TIMEOUT = Duration.ofSeconds(3);

  /** Long enough that no heartbeat wakes a waiter in place of a lost message. */
  static final Duration NO_HEARTBEAT = Duration.ofHours(1);

  /** How late anything may be on a busy machine. */
  static final Duration SLACK = Duration.ofSeconds(10);

  /** A lease, or a wait, that ends long after the test. */
  static final Duration LONG = Duration.ofMinutes(2);

  final String name = freshName();
  final Duration waiterTimeout;
  private final TwoClients clients;
  private final List<StepThread> threads = new ArrayList<>();

  ReadWriteFixture(TwoClients clients, Duration waiterTimeout) {
    this.clients = clients;
    this.waiterTimeout = waiterTimeout;
  }

  /** Two clients with that lease, whose readers share no hold: each reader has its own in Redis. */
  static TwoClients clients(Duration lease) {
    return new TwoClients(withoutSharing(lease));
  }

  static LockOptions withoutSharing(Duration lease) {
    return LockOptions.builder().lease(lease).tuning(t -> t.maxHandOffs(0)).build();
  }

  static String freshName() {
    return "rw:" + UUID.randomUUID();
  }

  RedisServer server() {
    return clients.server();
  }

  RedisReadWriteLock here(boolean fair) {
    return lock(clients.here(), name, fair, waiterTimeout);
  }

  RedisReadWriteLock there(boolean fair) {
    return lock(clients.there(), name, fair, waiterTimeout);
  }

  /** Returns the fair lock of that name, or the other one. */
  public static RedisReadWriteLock lock(
      LockClient client, String name, boolean fair, Duration waiterTimeout) {
    return fair
        ? RedisReadWriteLock.fair(client, name, waiterTimeout)
        : new RedisReadWriteLock(client, name, waiterTimeout);
  }

  /** Starts a thread that ends with the test. */
  StepThread thread() {
    StepThread thread = new StepThread();
    threads.add(thread);
    return thread;
  }

  /** Returns how many waiters of this lock have sent a heartbeat to Redis. */
  long waiters() {
    return waiters(name);
  }

  long waiters(String other) {
    LockName keys = new LockName(other);
    return number("ZCARD", keys.derive("mortise_read_waiters"))
        + number("EXISTS", keys.derive("mortise_write_intent"))
        + number("ZCARD", keys.derive("redisson_lock_timeout"));
  }

  void awaitWaiters(long count) {
    awaitWaiters(name, count);
  }

  /** Waits for the waiters of another lock. */
  void awaitWaiters(String other, long count) {
    await().pollInterval(Duration.ofMillis(2)).atMost(SLACK).until(() -> waiters(other) == count);
  }

  long number(String... command) {
    return (Long) server().command(command);
  }

  long millisLeft(String key) {
    return number("PTTL", key);
  }

  /** Returns the keys of the leases of this lock's readers. */
  List<String> leaseKeys() {
    return keys().stream().filter(key -> key.contains(":rwlock_timeout:")).toList();
  }

  /** Returns all keys of this lock but its token and its marks, which live on for a while. */
  List<String> keys() {
    return keys(server(), name);
  }

  /** Returns all keys whose names contain that, but tokens, marks and records. */
  static List<String> keys(RedisServer server, String part) {
    return ((List<?>) server.command("KEYS", "*"))
        .stream()
            .map(String.class::cast)
            .filter(key -> key.contains(part))
            .filter(key -> !key.startsWith("redisson_lock_token:"))
            .filter(key -> !key.startsWith("mortise_forced"))
            .filter(key -> !key.startsWith("redisson_unlock_latch:"))
            .filter(key -> !ClientRecords.isRecord(key))
            .toList();
  }

  void assertNothingLeft() {
    assertEquals(List.of(), keys());
  }

  @Override
  public void afterEach(ExtensionContext context) {
    try {
      assertNothingLeft();
    } finally {
      threads.forEach(StepThread::close);
    }
  }
}
