package io.mortise.it.multilock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.multilock.MultiLock;
import io.mortise.testkit.RedisServer;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Plain locks of one client are taken in one round trip, and given back in one. */
@Timeout(60)
@Tag("redis-version")
class GroupTest {
  private static final Pattern EVALSHA = Pattern.compile("cmdstat_evalsha:calls=(\\d+)");
  private static final int CYCLES = 500;

  private static RedisServer server;
  private static LockClient client;

  private final String name = "group:" + UUID.randomUUID();

  @BeforeAll
  static void start() {
    server = RedisServer.start();
    client = LockClient.create(server.uri());
  }

  @AfterAll
  static void stop() {
    client.close();
    server.close();
  }

  private DistributedLock of(int names) {
    return new MultiLock(
        IntStream.range(0, names).mapToObj(i -> new RedisLock(client, name + ":" + i)).toList());
  }

  private static long scripts() {
    Matcher calls = EVALSHA.matcher(String.valueOf(server.command("INFO", "commandstats")));
    return calls.find() ? Long.parseLong(calls.group(1)) : 0;
  }

  @Test
  void tenNamesAreOneCommandToTakeAndOneEachInOneTripToGiveBack() {
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
  void fiveHundredNamesToo() {
    DistributedLock many = of(500);
    many.lock();
    assertTrue(many.isHeldByCurrentThread());
    many.unlock();
    assertFalse(many.isLocked());
  }

  @Test
  void oneThatIsBusyLeavesNoneOfTheOthersTaken() {
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
    for (int i = 0; i < CYCLES; i++) { // in turn, so that both have the same machine
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
