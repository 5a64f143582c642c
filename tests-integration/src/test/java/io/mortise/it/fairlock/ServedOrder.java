package io.mortise.it.fairlock;

import static org.awaitility.Awaitility.await;

import io.mortise.core.LockClient;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

/**
 * Those who wait for one fair lock, in a known order: each asks when all before it stand in the
 * queue. Whoever is served writes its name to a list in Redis while it holds the lock.
 */
final class ServedOrder implements AutoCloseable {
  static final Duration PATIENCE = Duration.ofSeconds(20);

  final RedisServer server;
  final String name = "it:" + UUID.randomUUID();
  final String served = "served-" + UUID.randomUUID();
  final String list = "redisson_lock_queue:{" + name + "}";
  final String deadlines = "redisson_lock_timeout:{" + name + "}";
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<Throwable> failures = new CopyOnWriteArrayList<>();

  ServedOrder(RedisServer server) {
    this.server = server;
  }

  RedisFairLock lock(LockClient client, Duration presence) {
    return new RedisFairLock(client, name, presence);
  }

  // ---- asking

  /** What takes the lock, if it does. */
  @FunctionalInterface
  interface Taking {
    boolean take() throws Exception;
  }

  /** A thread that has asked. */
  record Asked(Future<Boolean> taking) {

    /** Whether it took the lock; waits for that. What it threw is thrown here. */
    boolean taken() throws Exception {
      try {
        return taking.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      } catch (ExecutionException e) {
        throw e.getCause() instanceof Exception cause ? cause : e;
      }
    }

    void interrupt() {
      taking.cancel(true);
    }
  }

  /** A thread that takes the lock, is served, and gives the lock up; returns when it is in line. */
  Asked ask(String who, Lock lock) {
    return ask(
        who,
        lock,
        () -> {
          lock.lock();
          return true;
        });
  }

  /** The same, with another way to take it; see {@link Asked#taken}. */
  Asked ask(String who, Lock lock, Taking taking) {
    return ask(who, lock, taking, new CountDownLatch(0));
  }

  /** The same; the lock is kept until the latch is at zero. */
  Asked ask(String who, Lock lock, Taking taking, CountDownLatch until) {
    long before = length();
    Asked asked = start(who, lock, taking, until);
    awaitLength(before + 1);
    return asked;
  }

  /** The same without a look at the queue. */
  Asked start(String who, Lock lock, Taking taking, CountDownLatch until) {
    return new Asked(
        threads.submit(
            () -> {
              try {
                boolean taken = taking.take();
                if (taken) {
                  server.command("RPUSH", served, who);
                  until.await();
                  lock.unlock();
                }
                return taken;
              } catch (InterruptedException e) {
                throw e;
              } catch (Throwable e) {
                failures.add(e);
                throw e;
              }
            }));
  }

  /** As {@link #ask(String, Lock)}, by a {@link FairProcess} or a {@link RedissonProcess}. */
  void ask(String who, JavaProcess process) {
    long before = length();
    process.send("ask " + who);
    awaitLength(before + 1);
  }

  /** How many places there are, dead or alive, without a look at who they are. */
  long length() {
    return (Long) server.command("LLEN", list);
  }

  void awaitLength(long length) {
    await("a queue of " + length)
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2))
        .atMost(PATIENCE)
        .until(() -> length() == length);
  }

  // ---- being served

  void awaitServed(String... everybody) {
    awaitServed(PATIENCE, everybody);
  }

  /** Waits until as many have been served; they must be these, in this order. */
  void awaitServed(Duration within, String... everybody) {
    await("served: " + List.of(everybody))
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(5))
        .atMost(within)
        .until(() -> !failures.isEmpty() || served().size() >= everybody.length);
    if (!failures.isEmpty()) {
      throw new AssertionError("somebody failed", failures.get(0));
    }
    List<String> in = served();
    if (!in.equals(List.of(everybody))) {
      throw new AssertionError("served: " + in + " instead of " + List.of(everybody));
    }
  }

  @SuppressWarnings("unchecked")
  List<String> served() {
    return (List<String>) server.command("LRANGE", served, "0", "-1");
  }

  // ---- the queue itself

  /** The holders in the queue, from the head. */
  @SuppressWarnings("unchecked")
  List<String> holders() {
    return (List<String>) server.command("LRANGE", list, "0", "-1");
  }

  /** How long the place of that holder is kept, in ms from now. */
  long left(String holder) {
    return (long) Double.parseDouble((String) server.command("ZSCORE", deadlines, holder)) - now();
  }

  /** Makes every deadline so much nearer: as if all had stood in the queue for that time. */
  @SuppressWarnings("unchecked")
  void age(Duration time) {
    for (String holder : (List<String>) server.command("ZRANGE", deadlines, "0", "-1")) {
      server.command("ZINCRBY", deadlines, "-" + time.toMillis(), holder);
    }
  }

  /** The place of that holder is over. */
  void end(String holder) {
    server.command("ZADD", deadlines, Long.toString(now() - 1), holder);
  }

  private long now() {
    List<?> time = (List<?>) server.command("TIME");
    return Long.parseLong((String) time.get(0)) * 1_000
        + Long.parseLong((String) time.get(1)) / 1_000;
  }

  /** Waits until this lock has nothing in Redis but its token, which ends by itself. */
  void awaitNothingLeft() {
    String token = "redisson_lock_token:{" + name + "}";
    await("nothing left")
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(10))
        .atMost(PATIENCE)
        .until(this::keys, Set.of(token)::containsAll);
    if (keys().contains(token) && (Long) server.command("PTTL", token) < 0) {
      throw new AssertionError(token + " has no TTL");
    }
  }

  @SuppressWarnings("unchecked")
  List<String> keys() {
    return new ArrayList<>((List<String>) server.command("KEYS", "*" + name + "*"));
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
