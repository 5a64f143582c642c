package io.mortise.it.multilock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.multilock.MultiLock;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Plain locks of one client are acquired in one round trip and released in one. */
@Timeout(60)
@Tag("redis-version")
class GroupTest {
  private static final int CYCLES = 500;

  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static LockClient client;

  private final String name = Names.fresh();

  @BeforeAll
  static void start() {
    client = redis.client();
  }

  @AfterAll
  static void stop() {
    client.close();
  }

  private DistributedLock of(int names) {
    return new MultiLock(
        IntStream.range(0, names).mapToObj(i -> new RedisLock(client, name + ":" + i)).toList());
  }

  private static long scripts() {
    return redis.calls("evalsha");
  }

  @Test
  void tenNamesAreAcquiredByOneCommandAndReleasedByOneEachInOneRoundTrip() {
    DistributedLock ten = of(10);
    cycle(ten); // the scripts are known from here on
    long before = scripts();
    ten.lock();
    assertEquals(1, scripts() - before);
    assertEquals(10, client.status().holds());
    ten.unlock();
    assertEquals(11, scripts() - before);
    assertFalse(ten.isLocked());
  }

  @Test
  void fiveHundredNamesAreAcquiredAndReleased() {
    DistributedLock many = of(500);
    many.lock();
    assertTrue(many.isHeldByCurrentThread());
    many.unlock();
    assertFalse(many.isLocked());
  }

  @Test
  void aBusyMemberLeavesNoneOfTheOthersHeld() {
    RedisLock busy = new RedisLock(client, name + ":5");
    try (var held = busy.tryAcquire().orElseThrow()) {
      assertFalse(of(10).tryLock());
      assertEquals(1, client.status().holds());
      assertTrue(held.isValid());
    }
    await().until(() -> client.status().holds() == 0);
    assertFalse(of(10).isLocked());
  }

  @Test
  void tenNamesCostASmallMultipleOfOne() {
    long[] one = new long[CYCLES];
    long[] ten = new long[CYCLES];
    List<DistributedLock> locks = List.of(of(1), of(10));
    for (int i = 0; i < CYCLES; i++) { // alternately, so that the load of the machine is the same
      one[i] = cycle(locks.get(0));
      ten[i] = cycle(locks.get(1));
    }
    System.out.printf(
        "lock and unlock, median of %d: one name %d us, ten names %d us, ratio %.1f%n",
        CYCLES, median(one) / 1_000, median(ten) / 1_000, (double) median(ten) / median(one));
    assertTrue(median(ten) < 8 * median(one), "not ten times");
  }

  private static long cycle(DistributedLock lock) {
    long start = System.nanoTime();
    lock.lock();
    lock.unlock();
    return System.nanoTime() - start;
  }

  private static long median(long[] nanos) {
    Arrays.sort(nanos);
    return nanos[nanos.length / 2];
  }
}
