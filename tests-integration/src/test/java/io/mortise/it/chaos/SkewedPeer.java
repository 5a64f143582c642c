package io.mortise.it.chaos;

import static io.mortise.testkit.HoldLog.Mode.EXCLUSIVE;
import static io.mortise.testkit.HoldLog.Mode.SHARED;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.peers.RedissonPeer;
import io.mortise.it.peers.RedissonVersion;
import io.mortise.it.support.TestThreads;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.HoldLog;
import io.mortise.testkit.HoldLog.Mode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * A child JVM with a client of ours, or of a version of Redisson, whose threads contend for two
 * locks until it reads a line; then they all ask once more, and each has to get in. It prints
 * {@code ready}, {@code rests} and its number of cycles, {@code entered} and the longest wait in
 * ms, and {@code done}.
 */
final class SkewedPeer {
  static final String MORTISE = "MORTISE";

  /** Of all holds; not shorter, or readers of an old Redisson cut the leases of our readers. */
  private static final Duration LEASE = Duration.ofSeconds(20);

  private static final int THREADS = 2;
  private static final int MAX_WAIT_MILLIS = 1_000;
  private static final int MAX_BREAK_MILLIS = 3;
  private static final int MAX_LONG_STAY_MILLIS = 40;

  /** One way into the section of a lock. */
  private record Way(String name, Mode mode, Lock lock) {
    /**
     * Enters in one of the ways of the interface. A reader or writer of Redisson misses messages.
     */
    boolean enter(Random random) throws InterruptedException {
      if (mode == EXCLUSIVE && !name.equals("rw") && random.nextInt(4) == 0) {
        return enterOnce();
      }
      return tryFor(random.nextInt(MAX_WAIT_MILLIS));
    }

    private boolean enterOnce() {
      try {
        lock.lock();
        return true;
      } catch (CancellationException e) {
        rethrowUnlessOfRedisson(e);
        return false;
      }
    }

    boolean tryFor(long millis) throws InterruptedException {
      try {
        return lock.tryLock(millis, MILLISECONDS);
      } catch (LockException unanswered) { // within the wait, on a busy machine
        return false;
      } catch (CancellationException e) {
        rethrowUnlessOfRedisson(e);
        return false;
      }
    }

    /**
     * A thread of Redisson 3.16.8 whose wait to subscribe its clock has ended cancels the
     * subscription also for the other threads of its process: redisson/redisson#4210.
     */
    private void rethrowUnlessOfRedisson(CancellationException e) {
      if (lock instanceof DistributedLock) {
        throw e;
      }
    }
  }

  private final AtomicBoolean rests = new AtomicBoolean();
  private final AtomicInteger cycles = new AtomicInteger();

  private SkewedPeer() {}

  /**
   * Arguments: {@link #MORTISE} or a {@link RedissonVersion}, URI, directory, bound in ms, seed.
   */
  public static void main(String[] arguments) throws Exception {
    Duration bound = Duration.ofMillis(Long.parseLong(arguments[3]));
    Random random = new Random(Long.parseLong(arguments[4]));
    try (HoldLog log = HoldLog.open(Path.of(arguments[2]))) {
      if (arguments[0].equals(MORTISE)) {
        LockOptions options = LockOptions.builder().lease(LEASE).build();
        try (LockClient client = LockClient.create(arguments[1], options)) {
          new SkewedPeer().run(ours(client), log, random, bound);
        }
      } else {
        RedissonVersion version = RedissonVersion.valueOf(arguments[0]);
        try (RedissonPeer peer = RedissonPeer.connect(version, arguments[1], LEASE)) {
          new SkewedPeer().run(theirs(peer), log, random, bound);
        }
      }
    }
    System.out.println("done");
  }

  private static List<Way> ours(LockClient client) {
    RedisReadWriteLock both = new RedisReadWriteLock(client, "rw");
    return ways(new RedisLock(client, "plain"), both);
  }

  private static List<Way> theirs(RedissonPeer peer) {
    return ways(peer.lock("plain"), peer.readWriteLock("rw"));
  }

  private static List<Way> ways(Lock plain, ReadWriteLock both) {
    return List.of(
        new Way("plain", EXCLUSIVE, plain),
        new Way("rw", SHARED, both.readLock()),
        new Way("rw", EXCLUSIVE, both.writeLock()));
  }

  private void run(List<Way> ways, HoldLog log, Random random, Duration bound) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    try (TestThreads threads = new TestThreads()) {
      for (int i = 0; i < ways.size() * THREADS; i++) {
        Way way = ways.get(i % ways.size());
        Random ofThread = new Random(random.nextLong());
        String who = "thread-" + i;
        threads.start(() -> contend(way, log, who, ofThread));
      }
      System.out.println("ready");
      in.readLine();
      rests.set(true);
      threads.join(bound);
      System.out.println("rests " + cycles);
      in.readLine(); // when all rest
      System.out.println("entered " + askOnce(threads, ways, bound));
    }
  }

  private void contend(Way way, HoldLog log, String who, Random random) throws Exception {
    for (int hold = 1; !rests.get(); hold++) {
      if (way.enter(random)) {
        try {
          HoldLog.Hold held = log.acquired(way.name, who + "#" + hold, 0, way.mode);
          int longest = random.nextInt(20) == 0 ? MAX_LONG_STAY_MILLIS : 1;
          PlannedTime.pass(Duration.ofMillis(random.nextInt(longest + 1)));
          held.released();
        } finally {
          way.lock.unlock(); // throws if the hold was lost
        }
        cycles.incrementAndGet();
      }
      PlannedTime.pass(Duration.ofMillis(random.nextInt(MAX_BREAK_MILLIS)));
    }
  }

  /** Returns the longest wait in ms; {@code too late} if a thread did not get in. */
  private static String askOnce(TestThreads threads, List<Way> ways, Duration bound)
      throws Exception {
    List<Future<Long>> waits = new ArrayList<>();
    for (Way way : ways) {
      waits.add(threads.ask(() -> waitFor(way, bound)));
    }
    long longestNanos = 0;
    for (Future<Long> wait : waits) {
      if (wait.get() > bound.toNanos()) {
        return "too late";
      }
      longestNanos = Math.max(longestNanos, wait.get());
    }
    return Long.toString(longestNanos / 1_000_000);
  }

  /** Waits in short steps, because a thread of Redisson may miss a message. */
  private static long waitFor(Way way, Duration bound) throws InterruptedException {
    long startNanos = System.nanoTime();
    boolean entered = false;
    while (!entered && System.nanoTime() - startNanos <= bound.toNanos()) {
      entered = way.tryFor(MAX_WAIT_MILLIS);
    }
    if (entered) {
      way.lock.unlock();
      return System.nanoTime() - startNanos;
    }
    return Long.MAX_VALUE;
  }
}
