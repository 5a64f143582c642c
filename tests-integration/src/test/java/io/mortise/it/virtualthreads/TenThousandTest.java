package io.mortise.it.virtualthreads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.it.support.TestThreads;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The cost of ten thousand virtual threads that wait: for one lock, and each for its own. */
@EnabledForJreRange(min = JRE.JAVA_21)
@Tag("virtual-threads")
@Timeout(180)
class TenThousandTest {
  private static final int THREADS = 10_000;
  private static final Duration LIMIT = Duration.ofMinutes(2);

  /** Without connections: the scheduler, the subscriber, workers, and the threads of the JVM. */
  private static final int MAX_OTHER_THREADS = 60;

  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @Test
  void onOneLock() throws Exception {
    assertAllServed(List.of(Names.fresh()));
  }

  @Test
  void onAsManyLocks() throws Exception {
    assertAllServed(Stream.generate(Names::fresh).limit(THREADS).toList());
  }

  /**
   * All threads wait while another client holds the locks, and send nothing; then all get theirs.
   */
  private static void assertAllServed(List<String> names) throws Exception {
    LockOptions options = LockOptions.builder().lease(Duration.ofMinutes(5)).build();
    try (LockClient holding = LockClient.create(redis.uri(), options);
        LockClient waiting = LockClient.create(redis.uri(), options);
        TestThreads threads = VirtualThreads.start()) {
      List<Lease> held = new ArrayList<>();
      for (String name : names) {
        held.add(new RedisLock(holding, name).tryAcquire().orElseThrow());
      }
      int threadsBefore = ManagementFactory.getThreadMXBean().getThreadCount();
      AtomicInteger inside = new AtomicInteger();
      AtomicInteger served = new AtomicInteger();
      long startNanos = System.nanoTime();
      for (int i = 0; i < THREADS; i++) {
        DistributedLock lock = new RedisLock(waiting, names.get(i % names.size()));
        boolean alone = names.size() == 1;
        threads.start(
            () -> {
              lock.lock();
              try {
                assertTrue(!alone || inside.incrementAndGet() == 1);
                inside.decrementAndGet();
                served.incrementAndGet();
              } finally {
                lock.unlock();
              }
            });
      }
      awaitQuiet(waiting, names.size());
      double waitingAfter = secondsSince(startNanos);
      assertEquals(0, served.get());
      int moreThreads = ManagementFactory.getThreadMXBean().getThreadCount() - threadsBefore;
      assertTrue(
          moreThreads <= options.tuning().maxConnections() + MAX_OTHER_THREADS,
          () -> moreThreads + " threads");
      assertEquals(1, subscriberConnections(), "one connection for all channels");

      long releaseNanos = System.nanoTime();
      held.forEach(Lease::close);
      threads.join(LIMIT);
      assertEquals(THREADS, served.get());
      System.out.printf(
          "10,000 virtual threads on %d locks: all wait after %.1f s, with %d more platform threads;"
              + " all served %.1f s after the release%n",
          names.size(), waitingAfter, moreThreads, secondsSince(releaseNanos));
    }
  }

  private static double secondsSince(long nanos) {
    return (System.nanoTime() - nanos) / 1e9;
  }

  /** Waits until all threads wait, and none sends a command any more. */
  private static void awaitQuiet(LockClient client, int names) {
    long[] seen = {-1};
    Awaitility.await()
        .pollInterval(Duration.ofMillis(500))
        .atMost(LIMIT)
        .until(
            () -> {
              long before = seen[0];
              seen[0] = redis.calls("evalsha");
              return before == seen[0]
                  && client.status().channels() == names
                  && client.status().contended() == names;
            });
  }

  private static long subscriberConnections() {
    return String.valueOf(redis.server().command("CLIENT", "LIST", "TYPE", "pubsub"))
        .lines()
        .filter(line -> line.contains("id="))
        .count();
  }
}
