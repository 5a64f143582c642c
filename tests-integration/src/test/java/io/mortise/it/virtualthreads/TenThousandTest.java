package io.mortise.it.virtualthreads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.RedisServer;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Ten thousand virtual threads wait, for one lock and each for its own; what that costs. */
@EnabledForJreRange(min = JRE.JAVA_21)
@Tag("virtual-threads")
@Timeout(180)
class TenThousandTest {
  private static final int THREADS = 10_000;
  private static final Duration LONG = Duration.ofMinutes(2);

  /** Besides the pool of connections: the scheduler, the subscriber, workers, the JVM's own. */
  private static final int MOST_THREADS_BESIDES = 60;

  private static RedisServer server;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void onOneLock() throws Exception {
    String name = Names.fresh();
    assertAllServed(List.of(name));
  }

  @Test
  void onAsManyLocks() throws Exception {
    assertAllServed(Stream.generate(Names::fresh).limit(THREADS).toList());
  }

  /** They all wait while another client holds the locks, quietly; then each has its turn. */
  private static void assertAllServed(List<String> names) throws Exception {
    LockOptions options = LockOptions.builder().lease(Duration.ofMinutes(5)).build();
    try (LockClient holding = LockClient.create(server.uri(), options);
        LockClient waiting = LockClient.create(server.uri(), options);
        TestThreads crew = VirtualThreads.crew()) {
      List<Lease> held = new ArrayList<>();
      for (String name : names) {
        held.add(new RedisLock(holding, name).tryAcquire().orElseThrow());
      }
      int threadsBefore = ManagementFactory.getThreadMXBean().getThreadCount();
      AtomicInteger inside = new AtomicInteger();
      AtomicInteger served = new AtomicInteger();
      long began = System.nanoTime();
      for (int i = 0; i < THREADS; i++) {
        DistributedLock lock = new RedisLock(waiting, names.get(i % names.size()));
        boolean alone = names.size() == 1;
        crew.start(
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
      double waitingAfter = (System.nanoTime() - began) / 1e9;
      assertEquals(0, served.get());
      int threads = ManagementFactory.getThreadMXBean().getThreadCount() - threadsBefore;
      assertTrue(
          threads <= options.maxConnections() + MOST_THREADS_BESIDES, () -> threads + " threads");
      assertEquals(1, subscribers(), "one connection for all channels");

      long released = System.nanoTime();
      held.forEach(Lease::close);
      crew.join(LONG);
      assertEquals(THREADS, served.get());
      System.out.printf(
          "10,000 virtual threads on %d locks: all wait after %.1f s, with %d platform threads more;"
              + " all served %.1f s after the release%n",
          names.size(), waitingAfter, threads, (System.nanoTime() - released) / 1e9);
    }
  }

  /** All have asked, and nobody asks any more. */
  private static void awaitQuiet(LockClient client, int names) {
    long[] seen = {-1};
    Awaitility.await()
        .pollInterval(Duration.ofMillis(500))
        .atMost(LONG)
        .until(
            () -> {
              long before = seen[0];
              seen[0] = server.commandStats().getOrDefault("evalsha", 0L);
              return before == seen[0]
                  && client.status().channels() == names
                  && client.status().contended() == names;
            });
  }

  private static long subscribers() {
    return String.valueOf(server.command("CLIENT", "LIST", "TYPE", "pubsub"))
        .lines()
        .filter(line -> line.contains("id="))
        .count();
  }
}
