package io.mortise.it.rwlock;

import static io.mortise.it.rwlock.TwoClients.SLACK;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.spi.LockName;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.JavaProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients of one fair read-write lock whose waiters show themselves more or less often. */
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
@Timeout(60)
class MixedTimeoutsTest {
  private static final Duration SHORT = Duration.ofMillis(800);
  private static final Duration LONG = Duration.ofSeconds(8);

  private static TwoClients rig;

  private final String name = TwoClients.freshName();
  private final String deadlines = new LockName(name).derive("redisson_lock_timeout");
  private final List<StepThread> hands = new ArrayList<>();
  private final List<String> entered = new CopyOnWriteArrayList<>();
  private final List<Future<?>> ends = new ArrayList<>();

  @BeforeAll
  static void start() {
    rig = new TwoClients(Duration.ofSeconds(30), LONG);
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  @AfterEach
  void dismiss() {
    hands.forEach(StepThread::close);
  }

  private RedisReadWriteLock lock(LockClient client, Duration presence) {
    return new RedisReadWriteLock(client, name, true, presence);
  }

  /** Takes its place in the queue; once it is in, it says so and goes. */
  private void queue(String who, DistributedLock side) {
    StepThread hand = new StepThread();
    hands.add(hand);
    long before = rig.waiters(name);
    ends.add(
        hand.begin(
            () -> {
              side.lock();
              entered.add(who);
              side.unlock();
            }));
    rig.awaitWaiters(name, before + 1);
  }

  private void awaitEntered() throws Exception {
    for (Future<?> end : ends) {
      StepThread.result(end);
    }
  }

  /** How long the place of whoever is first to lose it is kept from now on. */
  private long leastMillis() {
    List<?> first = (List<?>) rig.server.command("ZRANGE", deadlines, "0", "0", "WITHSCORES");
    List<?> time = (List<?>) rig.server.command("TIME");
    return (long) Double.parseDouble((String) first.get(1))
        - Long.parseLong((String) time.get(0)) * 1_000
        - Long.parseLong((String) time.get(1)) / 1_000;
  }

  @Test
  void whoShowsItselfOftenAndWhoSeldomDoesKeepTheirPlacesWhileTheyLive() throws Exception {
    DistributedLock first = lock(rig.here, LONG).writeLock();
    first.lock();
    queue("seldom 1", lock(rig.here, LONG).writeLock());
    queue("often 1", lock(rig.there, SHORT).readLock());
    queue("seldom 2", lock(rig.here, LONG).writeLock());
    queue("often 2", lock(rig.there, SHORT).writeLock());
    queue("seldom 3", lock(rig.here, LONG).readLock());

    await()
        .pollInterval(Duration.ofMillis(20))
        .atMost(SLACK)
        .during(SHORT.multipliedBy(3))
        .until(() -> rig.waiters(name) == 5);
    assertTrue(
        leastMillis() < SHORT.toMillis(), "who shows itself often has a deadline of its own");
    first.unlock();
    awaitEntered();

    assertEquals(List.of("seldom 1", "often 1", "seldom 2", "often 2", "seldom 3"), entered);
    assertEquals(List.of(), rig.keys(name));
  }

  @Test
  void whoShowedItselfOftenAndDiedDelaysByItsPresenceAndAQuarterOfTheirsBehind() throws Exception {
    DistributedLock first = lock(rig.here, LONG).writeLock();
    first.lock();
    queue("seldom 1", lock(rig.here, LONG).writeLock());
    try (JavaProcess child =
        ReadersProcess.start(rig, name, true, Duration.ofSeconds(30), 1, SHORT)) {
      child.send("write");
      rig.awaitWaiters(name, 2);
      queue("seldom 2", lock(rig.there, LONG).readLock());
      queue("seldom 3", lock(rig.here, LONG).writeLock());
      await().atMost(SLACK).until(() -> leastMillis() < SHORT.toMillis()); // it has shown itself
      child.kill();
    }
    long killed = System.nanoTime();

    first.unlock();
    awaitEntered();

    long waited = (System.nanoTime() - killed) / 1_000_000;
    long most = SHORT.plus(LONG.dividedBy(4)).plus(SLACK).toMillis();
    assertTrue(waited <= most, () -> waited + " ms, and the lease is 30 s");
    assertEquals(List.of("seldom 1", "seldom 2", "seldom 3"), entered);
    assertEquals(List.of(), rig.keys(name));
  }
}
