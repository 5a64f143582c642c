package io.mortise.it.fairlock;

import static org.awaitility.Awaitility.await;

import io.mortise.core.LockClient;
import io.mortise.core.spi.LockName;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.TwoClients;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The waiters of one fair lock, in a known order: each one joins the queue when all before it are
 * in it. A waiter that is served appends its name to a list in Redis while it holds the lock. A
 * test that leaves anything in Redis fails.
 */
public final class ServedOrder implements AfterEachCallback {
  public final String name = Names.fresh();
  final String served = "served-" + name.substring(name.indexOf(':') + 1);
  final String list = new LockName(name).derive("redisson_lock_queue");
  final String deadlines = new LockName(name).derive("redisson_lock_timeout");
  private final TwoClients clients;
  private final Duration waiterTimeout;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<Throwable> failures = new CopyOnWriteArrayList<>();

  public ServedOrder(TwoClients clients, Duration waiterTimeout) {
    this.clients = clients;
    this.waiterTimeout = waiterTimeout;
  }

  RedisServer server() {
    return clients.server();
  }

  Duration waiterTimeout() {
    return waiterTimeout;
  }

  public RedisFairLock here() {
    return lock(clients.here());
  }

  public RedisFairLock there() {
    return lock(clients.there());
  }

  public RedisFairLock lock(LockClient client) {
    return lock(client, waiterTimeout);
  }

  public RedisFairLock lock(LockClient client, Duration timeout) {
    return new RedisFairLock(client, name, timeout);
  }

  // ---- waiting

  /** A way to acquire the lock. */
  @FunctionalInterface
  public interface Acquisition {
    boolean acquire() throws Exception;
  }

  /** A thread that waits. */
  public record Waiter(Future<Boolean> acquisition) {
    /** Waits for the end of the acquisition; returns its result, or throws what it threw. */
    boolean acquired() throws Exception {
      try {
        return acquisition.get(Eventually.LIVENESS.toMillis(), TimeUnit.MILLISECONDS);
      } catch (ExecutionException e) {
        throw e.getCause() instanceof Exception cause ? cause : e;
      }
    }

    void interrupt() {
      acquisition.cancel(true);
    }
  }

  /** Starts a thread that acquires the lock, is served, and releases; returns when it is queued. */
  public Waiter queue(String who, Lock lock) {
    return queue(
        who,
        lock,
        () -> {
          lock.lock();
          return true;
        });
  }

  /** The same, with another way to acquire it; see {@link Waiter#acquired}. */
  Waiter queue(String who, Lock lock, Acquisition acquisition) {
    return queue(who, lock, acquisition, new CountDownLatch(0));
  }

  /** The same; the lock is held until the latch is at zero. */
  public Waiter queue(String who, Lock lock, Acquisition acquisition, CountDownLatch until) {
    long before = length();
    Waiter waiter = start(who, lock, acquisition, until);
    awaitLength(before + 1);
    return waiter;
  }

  /** The same, without a look at the queue. */
  public Waiter start(String who, Lock lock, Acquisition acquisition, CountDownLatch until) {
    return new Waiter(
        threads.submit(
            () -> {
              try {
                boolean acquired = acquisition.acquire();
                if (acquired) {
                  server().command("RPUSH", served, who);
                  until.await();
                  lock.unlock();
                }
                return acquired;
              } catch (InterruptedException e) {
                throw e;
              } catch (Throwable e) {
                failures.add(e);
                throw e;
              }
            }));
  }

  /** As {@link #queue(String, Lock)}, by a {@link FairProcess} or a {@link RedissonProcess}. */
  void queue(String who, JavaProcess process) {
    long before = length();
    process.send("queue " + who);
    awaitLength(before + 1);
  }

  /** Queues that many waiters, named {@code w0}, {@code w1}...; returns their names. */
  String[] queueAll(int count, Function<Integer, Lock> lock) {
    String[] all = new String[count];
    for (int i = 0; i < count; i++) {
      all[i] = "w" + i;
      queue(all[i], lock.apply(i));
    }
    return all;
  }

  /** Returns the number of places, of live and dead waiters. */
  public long length() {
    return (Long) server().command("LLEN", list);
  }

  public void awaitLength(long length) {
    await("a queue of " + length)
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2))
        .atMost(Eventually.LIVENESS)
        .until(() -> length() == length);
  }

  // ---- being served

  public void awaitServed(String... all) {
    awaitServed(Eventually.LIVENESS, all);
  }

  /** Waits until as many have been served; they must be these, in this order. */
  public void awaitServed(Duration within, String... all) {
    await("served: " + List.of(all))
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(5))
        .atMost(within)
        .until(() -> !failures.isEmpty() || served().size() >= all.length);
    if (!failures.isEmpty()) {
      throw new AssertionError("a waiter failed", failures.get(0));
    }
    List<String> inOrder = served();
    if (!inOrder.equals(List.of(all))) {
      throw new AssertionError("served: " + inOrder + " instead of " + List.of(all));
    }
  }

  public List<String> served() {
    return strings("LRANGE", served, "0", "-1");
  }

  // ---- the queue in Redis

  /** Returns the holders in the queue, from the head. */
  public List<String> holders() {
    return strings("LRANGE", list, "0", "-1");
  }

  /** Returns the time to the deadline of that holder's place. */
  public long millisLeft(String holder) {
    return (long) Double.parseDouble((String) server().command("ZSCORE", deadlines, holder))
        - now();
  }

  /** Moves every deadline, as if all had been in the queue for that time. */
  void age(Duration time) {
    for (String holder : strings("ZRANGE", deadlines, "0", "-1")) {
      server().command("ZINCRBY", deadlines, "-" + time.toMillis(), holder);
    }
  }

  /** Appends a place of a holder that no client knows. */
  void append(String holder) {
    server().command("RPUSH", list, holder);
    server().command("ZADD", deadlines, "9000000000000", holder);
  }

  /** Ends the place of that holder: its deadline is over. */
  void expire(String holder) {
    server().command("ZADD", deadlines, Long.toString(now() - 1), holder);
  }

  /** Returns the time of the server's clock, in ms. */
  long now() {
    List<String> time = strings("TIME");
    return Long.parseLong(time.get(0)) * 1_000 + Long.parseLong(time.get(1)) / 1_000;
  }

  /** Waits until this lock has nothing in Redis but its token, which has a TTL. */
  public void awaitNothingLeft() {
    String token = new LockName(name).tokenKey();
    await("nothing left")
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(10))
        .atMost(Eventually.LIVENESS)
        .until(this::keys, Set.of(token)::containsAll);
    if (keys().contains(token) && (Long) server().command("PTTL", token) < 0) {
      throw new AssertionError(token + " has no TTL");
    }
  }

  private List<String> keys() {
    return strings("KEYS", "*" + name + "*");
  }

  /** Removes the mark of a forced release, which lives for a while. */
  void removeForcedMark() {
    if (!server().command("DEL", new LockName(name).forcedKey()).equals(1L)) {
      throw new AssertionError("a forced release left no mark");
    }
  }

  @SuppressWarnings("unchecked")
  private List<String> strings(String... command) {
    return (List<String>) server().command(command);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    try {
      awaitNothingLeft();
    } finally {
      threads.shutdownNow();
    }
  }
}
