package io.mortise.it.handoff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.TestThreads;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Read holds of one client that are one in Redis. */
@Timeout(120)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class SharedReadsTest {
  private static final LockClient.Status NOTHING = new LockClient.Status(0, 0, 0, 0, 0, 0);

  private static RedisServer server;

  private final String name = Names.fresh();
  private final TestThreads crew = new TestThreads();
  private LockClient client = client(100, Duration.ofMinutes(1));

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
    client.close();
  }

  private static LockClient client(int joins, Duration time) {
    return client(joins, time, Duration.ofSeconds(2));
  }

  private static LockClient client(int joins, Duration time, Duration lease) {
    return LockClient.create(
        server.uri(),
        LockOptions.builder()
            .lease(lease)
            .maxHandOffs(joins)
            .maxHandOffTime(time)
            .subscriptionLinger(Duration.ofMillis(100))
            .build());
  }

  private void use(int joins, Duration time) {
    use(joins, time, Duration.ofSeconds(2));
  }

  private void use(int joins, Duration time, Duration lease) {
    client.close();
    client = client(joins, time, lease);
  }

  private DistributedLock read() {
    return new RedisReadWriteLock(client, name).readLock();
  }

  private DistributedLock write(LockClient of) {
    return new RedisReadWriteLock(of, name).writeLock();
  }

  /** How many readers Redis knows. */
  private int readers() {
    List<?> fields = (List<?>) server.command("HKEYS", name);
    return fields.isEmpty() ? 0 : fields.size() - 1;
  }

  private List<Lease> take(int count) {
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      leases.add(read().tryAcquire().orElseThrow());
    }
    return leases;
  }

  @Test
  void whoLeavesLongAfterwardsIsToldThatTheHoldIsGone() {
    use(100, Duration.ofMillis(200));
    List<Lease> leases = take(3);
    assertEquals(1, readers());
    long since = System.nanoTime();
    Eventually.until(
        "it was not heard of for so long", () -> System.nanoTime() - since > 300_000_000);
    server.command("DEL", name);

    for (Lease lease : leases) {
      assertThrows(LeaseLostException.class, lease::close);
      assertEquals(Reason.MISSING, lease.loss().orElseThrow().reason());
    }
    Eventually.untilAsserted("nothing is left", () -> assertEquals(NOTHING, client.status()));
  }

  @Test
  void whoLeavesLongAfterwardsAsksForAllWhoLeaveThen() {
    use(100, Duration.ofMillis(300), Duration.ofMinutes(1));
    List<Lease> leases = take(20);
    long since = System.nanoTime();
    Eventually.until(
        "it was not heard of for so long", () -> System.nanoTime() - since > 400_000_000);
    server.resetStats();

    leases.forEach(Lease::close);

    long asked = server.commandStats().getOrDefault("evalsha", 0L);
    assertTrue(asked >= 2 && asked <= 6, () -> asked + " commands: one asks, one releases");
    assertEquals(0, readers());
  }

  @Test
  void thoseOfOneClientAreOneInRedisAndItGoesWithTheLast() {
    List<Lease> leases = take(5);
    assertEquals(1, readers());
    try (LockClient other = client(100, Duration.ofMinutes(1))) {
      assertTrue(new RedisReadWriteLock(other, name).readLock().tryLock());
      assertEquals(2, readers());
      new RedisReadWriteLock(other, name).readLock().unlock();
      for (int i = 0; i < 5; i++) {
        assertFalse(write(other).tryLock(), "with " + (5 - i) + " readers");
        leases.get(i).close();
        leases.get(i).close();
        assertEquals(Lease.State.RELEASED, leases.get(i).state());
      }
      assertEquals(0, readers());
      assertTrue(write(other).tryLock());
      write(other).unlock();
    }
  }

  @Test
  void onlySoManyJoin() {
    use(3, Duration.ofMinutes(1));
    List<Lease> leases = take(9);
    assertEquals(3, readers(), "one, and three that join it");
    leases.forEach(Lease::close);
    assertEquals(0, readers());
  }

  @Test
  void aLeaseOfOnesOwnIsNotShared() {
    Lease renewed = read().tryAcquire().orElseThrow();
    Lease given = read().tryAcquire(Duration.ofMinutes(1)).orElseThrow();
    assertEquals(2, readers());
    renewed.close();
    given.close();
  }

  @Test
  void aThreadReentersAndLeavesItsOwn() throws Exception {
    Lease other = read().tryAcquire().orElseThrow();
    crew.start(
        () -> {
          read().lock();
          read().lock();
          assertEquals(2, read().holdCount());
          read().unlock();
          read().unlock();
          assertThrows(IllegalMonitorStateException.class, () -> read().unlock());
        });
    crew.join(Duration.ofSeconds(20));
    assertTrue(other.isValid());
    assertEquals(1, readers());
    other.close();
  }

  @Test
  void theyAreRenewedTogetherAndLostTogether() {
    List<Lease> leases = take(3);
    List<Reason> told = new ArrayList<>();
    leases.forEach(lease -> lease.onLost(loss -> told.add(loss.reason())));
    Eventually.holdsFor(
        Duration.ofSeconds(3), "all are valid", () -> leases.stream().allMatch(Lease::isValid));
    server.command("DEL", name);
    Eventually.until("all are told", () -> told.size() == 3);
    assertEquals(List.of(Reason.MISSING, Reason.MISSING, Reason.MISSING), told);
    leases.forEach(lease -> assertThrows(LeaseLostException.class, lease::close));
    Lease next = read().tryAcquire().orElseThrow();
    assertTrue(next.isValid());
    next.close();
  }

  @Test
  void aForcedReleaseIsToldToAll() {
    List<Lease> leases = take(3);
    assertTrue(read().forceUnlock());
    leases.forEach(
        lease -> {
          assertFalse(lease.isValid());
          assertEquals(Reason.FORCED, lease.loss().orElseThrow().reason());
        });
  }

  @Test
  void threadsThatDieWithoutUnlockingAreGivenUpWhenAllOfThemHave() throws Exception {
    for (int i = 0; i < 2; i++) {
      Thread thread = new Thread(() -> read().lock());
      thread.start();
      thread.join();
    }
    assertEquals(1, readers());
    Eventually.until("their lease has ended", () -> readers() == 0 || !read().isLocked());
    Eventually.until("nothing is in hand", () -> client.status().holds() == 0);
  }

  @Test
  void whoWritesReadsByAHoldOfItsOwn() {
    DistributedLock write = write(client);
    write.lock();
    read().lock();
    write.unlock();
    Lease other = read().tryAcquire().orElseThrow();
    assertEquals(2, readers());
    read().unlock();
    other.close();
    assertEquals(0, readers());
  }

  @Test
  void aWriterComesInAlthoughReadersNeverPause() throws Exception {
    use(100, Duration.ofMillis(20));
    AtomicInteger written = new AtomicInteger();
    AtomicInteger inside = new AtomicInteger();
    try (LockClient far = client(100, Duration.ofMillis(20))) {
      for (int i = 0; i < 8; i++) {
        crew.start(
            () -> {
              while (written.get() < 20) {
                read().lock();
                inside.incrementAndGet();
                inside.decrementAndGet();
                read().unlock();
              }
            });
      }
      for (int i = 0; i < 20; i++) {
        DistributedLock write = write(i % 2 == 0 ? far : client);
        assertTrue(write.tryLock(Duration.ofSeconds(20)), "writer " + i);
        assertEquals(0, inside.get());
        written.incrementAndGet();
        write.unlock();
      }
      crew.join(Duration.ofSeconds(20));
    }
    assertEquals(0, readers());
  }

  @Test
  void manyThatComeAndGoAndGiveUpLeaveNothingBehind() throws Exception {
    use(7, Duration.ofMillis(2));
    for (int i = 0; i < 8; i++) {
      boolean writes = i == 0;
      crew.start(
          () -> {
            DistributedLock lock = writes ? write(client) : read();
            for (int cycle = 0; cycle < (writes ? 100 : 2_000); cycle++) {
              try {
                if (lock.tryLock(Duration.ofNanos(ThreadLocalRandom.current().nextInt(500_000)))) {
                  lock.unlock();
                }
              } catch (LockException slow) { // a busy machine; nothing may be left all the more
                assertEquals(LockException.Reason.UNREACHABLE, slow.reason(), slow::getMessage);
              }
            }
          });
    }
    crew.join(Duration.ofSeconds(60));
    Eventually.until("nobody holds it", () -> readers() == 0);
    Eventually.until("nothing is in hand", () -> client.status().equals(NOTHING));
  }

  @Test
  void aClientThatIsClosedReleasesThem() throws Exception {
    for (int round = 0; round < 10; round++) {
      use(100, Duration.ofMinutes(1));
      CountDownLatch working = new CountDownLatch(50);
      for (int i = 0; i < 4; i++) {
        crew.start(
            () -> {
              try {
                while (true) {
                  read().lock();
                  working.countDown();
                  read().unlock();
                }
              } catch (LockException | IllegalMonitorStateException closed) {
                assertTrue(client.isClosed());
              }
            });
      }
      working.await();
      client.close();
      crew.join(Duration.ofSeconds(20));
      assertEquals(0, readers(), "after round " + round);
    }
  }
}
