package io.mortise.schedules;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.schedules.Section.Losses;
import io.mortise.testkit.InMemoryRedis;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;

/**
 * The parts of a scenario: servers in memory, clients of two sides, and threads that lock. A world
 * begins and ends inside one execution.
 */
final class World implements AutoCloseable {
  static final String NAME = "orders";

  /** For how long something may remain: the longest is the mark of a forced release. */
  private static final Duration MAX_REMAINING = Duration.ofMinutes(15);

  /** The task of a thread. */
  @FunctionalInterface
  interface Step {
    void run() throws Exception;
  }

  /** A scenario of threads that visit a section. */
  @FunctionalInterface
  interface Visits {
    /** Starts the threads, joins them, and checks what they have done. */
    void run(World world, Section section) throws Exception;
  }

  private static final class VirtualClock extends Clock {
    private static final Instant START = Instant.ofEpochSecond(1_800_000_000);

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }

    @Override
    public Instant instant() {
      return START.plusNanos(System.nanoTime());
    }
  }

  final List<InMemoryRedis> servers = new ArrayList<>();
  private final List<List<LockClient>> sides = List.of(new ArrayList<>(), new ArrayList<>());
  private final List<Thread> threads = new ArrayList<>();
  private final LockKind kind;
  private final long beganNanos = System.nanoTime();

  private World(LockKind kind, LockOptions options) {
    this.kind = kind;
    for (int i = 0; i < kind.servers; i++) {
      InMemoryRedis server = InMemoryRedis.start(new VirtualClock());
      servers.add(server);
      sides.forEach(side -> side.add(server.client(options)));
    }
  }

  /** Explores a scenario with the default options, in which no hold is lost. */
  static void explore(LockKind kind, Visits visits) throws InterruptedException {
    explore(kind, LockOptions.defaults(), Losses.NONE, visits);
  }

  /** Explores a scenario in new worlds. Each execution must leave nothing in its world. */
  static void explore(LockKind kind, LockOptions options, Losses losses, Visits visits)
      throws InterruptedException {
    Explorer.explore(scenario(kind, options, losses, visits));
  }

  static Explorer.Scenario scenario(
      LockKind kind, LockOptions options, Losses losses, Visits visits) {
    return () -> {
      try (World world = new World(kind, options)) {
        visits.run(world, new Section(losses, kind == LockKind.RED));
        world.checkNothingLeft();
      }
    };
  }

  InMemoryRedis redis() {
    return servers.get(0);
  }

  List<LockClient> side(int number) {
    return sides.get(number);
  }

  /** Returns a new lock object of a side, 0 or 1. */
  DistributedLock lock(int side) {
    return kind.of(sides.get(side));
  }

  /** Starts a thread. Its failure is one of the execution. */
  Thread start(String name, Step step) {
    Thread thread =
        new Thread(
            () -> {
              try {
                step.run();
              } catch (Exception e) {
                throw new AssertionError(e);
              }
            },
            name);
    threads.add(thread);
    thread.start();
    return thread;
  }

  /**
   * Waits for the threads, and for the end of all that they have used.
   *
   * @param within the virtual time that the threads may take: a waiter that misses its message goes
   *     on later
   */
  void join(Duration within) throws InterruptedException {
    for (Thread thread : threads) {
      thread.join();
    }
    Duration taken = Duration.ofNanos(System.nanoTime() - beganNanos);
    if (taken.compareTo(within) > 0) {
      throw new AssertionError("took %s of virtual time, not %s".formatted(taken, within));
    }
  }

  /**
   * Checks that the clients use nothing, and that nothing is left on the servers but tokens, and
   * the records of clients. Looks once more after each pause: an attempt that an interrupt has
   * ended may still be under way on a worker.
   */
  void checkNothingLeft() throws InterruptedException {
    List<Object> remains = remains();
    long waitMillis = 1_000;
    while (!remains.isEmpty() && waitMillis <= MAX_REMAINING.toMillis()) {
      Thread.sleep(waitMillis);
      waitMillis *= 2;
      remains = remains();
    }
    if (!remains.isEmpty()) {
      throw new AssertionError("left over: " + remains);
    }
  }

  private List<Object> remains() {
    List<Object> remains = new ArrayList<>();
    for (InMemoryRedis server : servers) {
      List<?> keys = (List<?>) server.command("KEYS", "*");
      keys.stream()
          .filter(key -> !((String) key).startsWith("redisson_lock_token:"))
          .filter(key -> !((String) key).startsWith("mortise_client:"))
          .forEach(remains::add);
    }
    for (List<LockClient> side : sides) {
      for (LockClient client : side) {
        if (!client.isClosed() && !client.status().isIdle()) {
          remains.add(client.status());
        }
      }
    }
    return remains;
  }

  @Override
  public void close() {
    servers.forEach(InMemoryRedis::close);
  }
}
