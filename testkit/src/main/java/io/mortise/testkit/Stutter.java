package io.mortise.testkit;

import com.google.common.util.concurrent.Uninterruptibles;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes processes stutter: suspends each of them (SIGSTOP) for 5 to 50 ms, about eight times a
 * second, as garbage collections and a busy machine do. The processes pause independently of each
 * other, at times that the seed decides.
 *
 * <pre>{@code
 * try (Stutter stutter = Stutter.start(42, first, second)) {
 *   first.awaitLine("done", Duration.ofSeconds(30));
 * }
 * }</pre>
 *
 * <p>Nothing else may pause or resume the processes meanwhile. A process that ends is left alone; a
 * server that was restarted is another process.
 *
 * <p><b>Threads.</b> A daemon thread for each process; any thread may call all methods.
 */
public final class Stutter implements AutoCloseable {
  private static final long SHORTEST_MILLIS = 5;
  private static final long LONGEST_MILLIS = 50;
  private static final long SHORTEST_RUN_MILLIS = 40;
  private static final long LONGEST_RUN_MILLIS = 160;

  private final CountDownLatch end = new CountDownLatch(1);
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicInteger pauses = new AtomicInteger();
  private final AtomicLong longestNanos = new AtomicLong();

  private Stutter() {}

  /** Begins; ends when it is closed. */
  public static Stutter start(long seed, JavaProcess... processes) {
    return start(
        seed,
        Arrays.stream(Objects.requireNonNull(processes, "processes"))
            .map(JavaProcess::osProcess)
            .toList());
  }

  /** The same for servers. */
  public static Stutter start(long seed, RedisServer... servers) {
    return start(
        seed,
        Arrays.stream(Objects.requireNonNull(servers, "servers"))
            .map(RedisServer::osProcess)
            .toList());
  }

  private static Stutter start(long seed, List<OsProcess> processes) {
    Stutter stutter = new Stutter();
    Random seeds = new Random(seed);
    for (OsProcess process : processes) {
      Random random = new Random(seeds.nextLong());
      Thread thread =
          new Thread(() -> stutter.disturb(process, random), "stutter-of-" + process.pid());
      thread.setDaemon(true);
      stutter.threads.add(thread);
    }
    stutter.threads.forEach(Thread::start);
    return stutter;
  }

  private void disturb(OsProcess process, Random random) {
    try {
      while (!ends(between(random, SHORTEST_RUN_MILLIS, LONGEST_RUN_MILLIS))) {
        long begin = System.nanoTime();
        process.pause();
        try {
          ends(between(random, SHORTEST_MILLIS, LONGEST_MILLIS));
        } finally {
          process.resume();
        }
        longestNanos.accumulateAndGet(System.nanoTime() - begin, Math::max);
        pauses.incrementAndGet();
      }
    } catch (IllegalStateException e) {
      if (process.isRunning()) {
        throw e;
      }
    }
  }

  private static long between(Random random, long least, long most) {
    return least + random.nextInt((int) (most - least + 1));
  }

  private boolean ends(long millis) {
    try {
      return end.await(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      return true; // nobody interrupts this thread
    }
  }

  /** How many pauses are over. */
  public int pauses() {
    return pauses.get();
  }

  /** The longest of them; on a busy machine it may be longer than was meant. */
  public Duration longest() {
    return Duration.ofNanos(longestNanos.get());
  }

  /** Ends the stuttering; the processes run when this returns. */
  @Override
  public void close() {
    end.countDown();
    // An interrupt is kept for the caller, and all processes are resumed first.
    threads.forEach(Uninterruptibles::joinUninterruptibly);
  }
}
