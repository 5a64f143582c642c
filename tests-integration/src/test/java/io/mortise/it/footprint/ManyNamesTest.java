package io.mortise.it.footprint;

import static io.mortise.it.support.Eventually.until;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.EngineTypes;
import io.mortise.it.support.ClientRecords;
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
 * Names that are used once leave nothing behind. {@code -Dmortise.names=1000000} uses a million.
 */
@Tag("alone")
class ManyNamesTest {
  private static final int NAMES = Integer.getInteger("mortise.names", 200_000);
  private static final int THREADS = 24;
  private static final Duration TOKEN_RETENTION = Duration.ofSeconds(3);

  @Test
  @Timeout(600)
  void namesUsedOnceLeaveNothingInTheClientAndTokensThatExpireInRedis() throws Exception {
    LockOptions options =
        LockOptions.builder()
            .tuning(t -> t.tokenRetention(TOKEN_RETENTION))
            .tuning(t -> t.subscriptionLinger(Duration.ZERO))
            .build();
    try (RedisServer server = RedisServer.start();
        LockClient client = LockClient.create(server.uri(), options);
        TestThreads threads = new TestThreads()) {
      assertThatHoldsAreSeen(client, threads);
      lockAndUnlockAll(client, threads);

      // Nothing is left when the last unlock has returned.
      assertTrue(client.status().isIdle(), client.status()::toString);
      HeapHistogram left = HeapHistogram.count();
      for (Class<?> perHold : EngineTypes.PER_HOLD) {
        assertEquals(0, left.of(perHold), perHold::getName);
      }
      assertEquals(1, left.of(EngineTypes.ENGINE), "the engine of the client");
      left.ofPackage(EngineTypes.ENGINE)
          .forEach((type, count) -> assertTrue(count < 1_000, () -> type + ": " + count));
      until("only the scheduler is left", () -> ClientResources.threads(client).size() == 1);

      assertTrue(channels(server).isEmpty(), () -> "" + channels(server));
      assertOnlyTokensWithAnEnd(server);
      await().atMost(Duration.ofMinutes(2)).until(() -> ClientRecords.otherKeys(server) == 0);
    }
  }

  /** The histogram counts the objects of a hold while a lock is held and a thread waits for it. */
  private static void assertThatHoldsAreSeen(LockClient client, TestThreads threads)
      throws Exception {
    DistributedLock lock = new RedisLock(client, Names.fresh());
    lock.lock();
    threads.start(
        () -> {
          lock.lock();
          lock.unlock();
        });
    until("the thread waits", () -> client.status().contended() == 1);
    HeapHistogram held = HeapHistogram.count();
    for (Class<?> perHold : EngineTypes.PER_HOLD) {
      assertTrue(held.of(perHold) > 0, perHold::getName);
    }
    lock.unlock();
    threads.join(Duration.ofSeconds(30));
  }

  private static void lockAndUnlockAll(LockClient client, TestThreads threads) throws Exception {
    String prefix = Names.fresh() + ":";
    AtomicInteger next = new AtomicInteger();
    long start = System.nanoTime();
    for (int thread = 0; thread < THREADS; thread++) {
      threads.start(
          () -> {
            for (int i = next.getAndIncrement(); i < NAMES; i = next.getAndIncrement()) {
              DistributedLock lock = new RedisLock(client, prefix + i);
              lock.lock();
              lock.unlock();
            }
          });
    }
    threads.join(Duration.ofMinutes(8));
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
      if (ClientRecords.isRecord((String) key)) {
        continue;
      }
      assertTrue(((String) key).startsWith("redisson_lock_token:"), () -> "" + key);
      long ttl = (Long) server.command("PTTL", (String) key);
      assertTrue(ttl != -1 && ttl <= TOKEN_RETENTION.toMillis(), () -> key + ": " + ttl);
    }
  }
}
