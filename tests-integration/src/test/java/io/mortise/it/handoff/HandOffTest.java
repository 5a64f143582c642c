package io.mortise.it.handoff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.EngineTypes;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.StackTraces;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A hold that passes from thread to thread of one client: how often, with what, and what ends it.
 */
@Timeout(120)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class HandOffTest {
  private static final LockClient.Status NOTHING = new LockClient.Status(0, 0, 0, 0, 0, 0);

  private static RedisServer server;

  private final String name = Names.fresh();
  private final TestThreads crew = new TestThreads();

  @BeforeAll
  static void start() {
    server = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @AfterEach
  void end() {
    crew.close();
  }

  private static LockClient client(int handOvers, Duration time) {
    return LockClient.create(
        server.uri(),
        LockOptions.builder()
            .maxHandOffs(handOvers)
            .maxHandOffTime(time)
            .subscriptionLinger(Duration.ofMillis(100))
            .build());
  }

  private static LockClient passing() {
    return client(100, Duration.ofMinutes(1));
  }

  private String holder() {
    List<?> fields = (List<?>) server.command("HKEYS", name);
    return fields.isEmpty() ? "nobody" : String.valueOf(fields.get(0));
  }

  /** Threads that stand in line behind a holder; each says the holder in Redis, and its token. */
  private List<Future<Seen>> line(LockClient client, int length) {
    List<Future<Seen>> line = new ArrayList<>();
    CountDownLatch started = new CountDownLatch(length);
    for (int i = 0; i < length; i++) {
      line.add(
          crew.ask(
              () -> {
                RedisLock lock = new RedisLock(client, name);
                started.countDown();
                lock.lock();
                try {
                  return new Seen(holder(), lock.lease().fencingToken());
                } finally {
                  lock.unlock();
                }
              }));
    }
    Eventually.until("all have started", () -> started.getCount() == 0);
    Eventually.until("they stand in line", () -> client.status().contended() == 1);
    return line;
  }

  private record Seen(String holder, long token) {}

  /** The holder ids in the order of their tokens. */
  private static List<String> holders(List<Future<Seen>> line) throws Exception {
    List<Seen> seen = new ArrayList<>();
    for (Future<Seen> one : line) {
      seen.add(one.get(20, TimeUnit.SECONDS));
    }
    seen.sort((a, b) -> Long.compare(a.token(), b.token()));
    assertEquals(
        seen.size(), seen.stream().map(Seen::token).distinct().count(), "each token is new");
    return seen.stream().map(Seen::holder).toList();
  }

  /** Takes it with others in line, so that tokens are reserved for them. */
  private Lease acquireBefore(LockClient client, List<Future<Seen>> line, int length)
      throws Exception {
    RedisLock lock = new RedisLock(client, name);
    Lease first = lock.tryAcquire().orElseThrow();
    line.addAll(line(client, length));
    return first;
  }

  @Test
  void theHolderInRedisStaysAndTheTokensRise() throws Exception {
    try (LockClient client = passing()) {
      List<Future<Seen>> line = new ArrayList<>();
      Lease first = acquireBefore(client, line, 8);
      Eventually.until("all wait", () -> waiting() == 8);
      String firstHolder = holder();
      first.close();

      List<String> holders = holders(line);

      // The first in line asked Redis, with the others behind it; it passed on to them.
      assertEquals(1, new TreeSet<>(holders).size(), holders::toString);
      assertFalse(holders.contains(firstHolder), "what was taken alone was not passed on");
      Eventually.until("it was released", () -> holder().equals("nobody"));
      Lease last = new RedisLock(client, name).tryAcquire().orElseThrow();
      for (Future<Seen> one : line) {
        assertTrue(last.fencingToken() > one.get().token());
      }
      last.close();
    }
  }

  /** How many threads of this JVM wait at a gate. */
  private static long waiting() {
    return Thread.getAllStackTraces().values().stream()
        .filter(stack -> StackTraces.contain(stack, EngineTypes.QUEUE))
        .count();
  }

  @Test
  void itGoesBackToRedisAfterSoManyPasses() throws Exception {
    try (LockClient client = client(3, Duration.ofMinutes(1))) {
      List<Future<Seen>> line = new ArrayList<>();
      Lease first = acquireBefore(client, line, 12);
      Eventually.until("all wait", () -> waiting() == 12);
      first.close();
      List<String> holders = holders(line);
      for (int i = 0; i < 12; i += 4) {
        assertEquals(1, holders.subList(i, i + 4).stream().distinct().count(), holders::toString);
      }
      assertEquals(3, holders.stream().distinct().count(), holders::toString);
    }
  }

  @Test
  void itGoesBackToRedisAfterSuchATime() throws Exception {
    try (LockClient client = client(100, Duration.ZERO)) {
      List<Future<Seen>> line = new ArrayList<>();
      Lease first = acquireBefore(client, line, 5);
      Eventually.until("all wait", () -> waiting() == 5);
      first.close();
      assertEquals(5, holders(line).stream().distinct().count());
    }
  }

  @Test
  void whoWantsALeaseOfItsOwnTakesItFromRedis() throws Exception {
    try (LockClient client = passing()) {
      RedisLock lock = new RedisLock(client, name);
      Lease first = lock.tryAcquire().orElseThrow();
      Future<String> renewed =
          crew.ask(
              () -> {
                lock.lock();
                Eventually.until("the other stands behind", () -> waiting() == 1);
                String holder = holder();
                lock.unlock();
                return holder;
              });
      Eventually.until("it waits", () -> waiting() == 1);
      Future<Long> given =
          crew.ask(
              () -> {
                lock.lock(Duration.ofSeconds(5));
                long ttl = (Long) server.command("PTTL", name);
                lock.unlock();
                return ttl;
              });
      Eventually.until("both wait", () -> waiting() == 2);
      first.close();
      assertFalse(renewed.get(20, TimeUnit.SECONDS).equals("nobody"));
      long ttl = given.get(20, TimeUnit.SECONDS);
      assertTrue(ttl > 0 && ttl <= 5_000, () -> "its lease ends in " + ttl + " ms");
      Eventually.until("nothing is left", () -> holder().equals("nobody"));
    }
  }

  @Test
  void whoGivesUpJustThenLeavesNothingBehind() throws Exception {
    try (LockClient client = passing()) {
      RedisLock lock = new RedisLock(client, name);
      for (int i = 0; i < 6; i++) {
        crew.start(
            () -> {
              for (int cycle = 0; cycle < 1_500; cycle++) {
                if (lock.tryLock(Duration.ofNanos(ThreadLocalRandom.current().nextInt(300_000)))) {
                  lock.unlock();
                }
              }
            });
      }
      crew.join(Duration.ofSeconds(60));
      Eventually.until("nobody holds it", () -> holder().equals("nobody"));
      Eventually.until("nothing is in hand", () -> client.status().equals(NOTHING));
    }
  }

  @Test
  void aForcedReleaseIsToldToWhoeverHasItThen() throws Exception {
    try (LockClient client = passing()) {
      RedisLock lock = new RedisLock(client, name);
      List<Lease> taken = Collections.synchronizedList(new ArrayList<>());
      CountDownLatch go = new CountDownLatch(1);
      Lease first = lock.tryAcquire().orElseThrow();
      for (int i = 0; i < 2; i++) {
        crew.start(
            () -> {
              Lease lease = lock.acquire(Duration.ofSeconds(30)).orElseThrow();
              taken.add(lease);
              if (taken.size() == 2) {
                go.await();
              } else {
                lease.close();
              }
            });
      }
      Eventually.until("both wait", () -> waiting() == 2);
      first.close();
      Eventually.until("the second has it", () -> taken.size() == 2);
      assertTrue(lock.forceUnlock());
      Eventually.until("it was told", () -> taken.get(1).loss().isPresent());
      assertEquals(Reason.FORCED, taken.get(1).loss().orElseThrow().reason());
      go.countDown();
    }
  }

  @Test
  void aClientThatIsClosedMeanwhileReleasesWhatWasPassing() throws Exception {
    for (int round = 0; round < 20; round++) {
      LockClient client = passing();
      RedisLock lock = new RedisLock(client, name);
      for (int i = 0; i < 4; i++) {
        crew.start(
            () -> {
              try {
                while (true) {
                  lock.lock();
                  lock.unlock();
                }
              } catch (LockException | IllegalMonitorStateException closed) {
                assertTrue(client.isClosed());
              }
            });
      }
      Eventually.until("they work", () -> client.status().contended() > 0);
      client.close();
      crew.join(Duration.ofSeconds(20));
      assertEquals("nobody", holder(), "after round " + round);
      assertThrows(LockException.class, lock::lock);
    }
  }

  @Test
  void anotherClientHasItsTurn() throws Exception {
    try (LockClient busy = client(100, Duration.ofMillis(20));
        LockClient other = client(100, Duration.ofMillis(20))) {
      RedisLock lock = new RedisLock(busy, name);
      CountDownLatch served = new CountDownLatch(1);
      for (int i = 0; i < 4; i++) {
        crew.start(
            () -> {
              while (served.getCount() > 0) {
                lock.lock();
                lock.unlock();
              }
            });
      }
      Eventually.until("they work", () -> busy.status().contended() > 0);
      RedisLock its = new RedisLock(other, name);
      for (int i = 0; i < 50; i++) {
        assertTrue(its.tryLock(Duration.ofSeconds(20)), "turn " + i);
        its.unlock();
      }
      served.countDown();
      crew.join(Duration.ofSeconds(20));
    }
  }
}
