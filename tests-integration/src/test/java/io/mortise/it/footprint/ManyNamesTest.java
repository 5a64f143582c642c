package io.mortise.it.footprint;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.EngineTypes;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.HeapHistogram;
import io.mortise.it.support.Names;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Names that are used once leave nothing behind. {@code -Dmortise.names=1000000} makes it the full
 * million, and does not wait longer for what must not be there.
 */
@Tag("alone")
class ManyNamesTest {
  private static final int NAMES = Integer.getInteger("mortise.names", 200_000);
  private static final int THREADS = 24;
  private static final Duration TOKEN_IDLE_LIFE = Duration.ofSeconds(3);

  @Test
  @Timeout(600)
  void namesUsedOnceLeaveNothingInTheClientAndTokensThatExpireInRedis() throws Exception {
    LockOptions options =
        LockOptions.builder()
            .tokenRetention(TOKEN_IDLE_LIFE)
            .subscriptionLinger(Duration.ZERO)
            .build();
    try (RedisServer server = RedisServer.start();
        LockClient client = LockClient.create(server.uri(), options);
        TestThreads crew = new TestThreads()) {
      assertThatHoldsAreSeen(client, crew);
      lockAndUnlockAll(client, crew);

      // Everything is given back by the time that the last unlock has returned.
      assertEquals(new LockClient.Status(0, 0, 0, 0, 0, 0), client.status());
      HeapHistogram left = HeapHistogram.count();
      for (Class<?> perHold : EngineTypes.PER_HOLD) {
        assertEquals(0, left.of(perHold), perHold::getName);
      }
      assertEquals(1, left.of(EngineTypes.ENGINE), "the engine of the client");
      left.besides(EngineTypes.ENGINE)
          .forEach((type, count) -> assertTrue(count < 1_000, () -> type + ": " + count));
      await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> ClientResources.threads(client).size() == 1); // the scheduler

      assertTrue(channels(server).isEmpty(), () -> "" + channels(server));
      assertOnlyTokensWithAnEnd(server);
      await()
          .atMost(Duration.ofMinutes(2))
          .until(() -> ((Long) server.command("DBSIZE")).longValue() == 0);
    }
  }

  /** What must not be left later is on the heap while a lock is held and waited for. */
  private static void assertThatHoldsAreSeen(LockClient client, TestThreads crew) throws Exception {
    DistributedLock lock = new RedisLock(client, Names.fresh());
    lock.lock();
    crew.start(
        () -> {
          lock.lock();
          lock.unlock();
        });
    await().until(() -> client.status().contended() == 1);
    HeapHistogram held = HeapHistogram.count();
    for (Class<?> perHold : EngineTypes.PER_HOLD) {
      assertTrue(held.of(perHold) > 0, perHold::getName);
    }
    lock.unlock();
    crew.join(Duration.ofSeconds(30));
  }

  private static void lockAndUnlockAll(LockClient client, TestThreads crew) throws Exception {
    String prefix = Names.fresh() + ":";
    AtomicInteger next = new AtomicInteger();
    long start = System.nanoTime();
    for (int thread = 0; thread < THREADS; thread++) {
      crew.start(
          () -> {
            for (int i = next.getAndIncrement(); i < NAMES; i = next.getAndIncrement()) {
              DistributedLock lock = new RedisLock(client, prefix + i);
              lock.lock();
              lock.unlock();
            }
          });
    }
    crew.join(Duration.ofMinutes(8));
    double seconds = (System.nanoTime() - start) / 1e9;
    System.out.printf(
        "%,d names locked and unlocked in %.1f s, %,.0f a second%n",
        NAMES, seconds, NAMES / seconds);
  }

  private static List<?> channels(RedisServer server) {
    return (List<?>) server.command("PUBSUB", "CHANNELS");
  }

  private static void assertOnlyTokensWithAnEnd(RedisServer server) {
    for (Object key : (List<?>) ((List<?>) server.command("SCAN", "0", "COUNT", "1000")).get(1)) {
      assertTrue(((String) key).startsWith("redisson_lock_token:"), () -> "" + key);
      long ttl = (Long) server.command("PTTL", (String) key);
      assertTrue(ttl != -1 && ttl <= TOKEN_IDLE_LIFE.toMillis(), () -> key + ": " + ttl);
    }
  }
}
