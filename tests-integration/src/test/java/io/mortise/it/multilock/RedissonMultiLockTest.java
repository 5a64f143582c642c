package io.mortise.it.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.EngineTypes;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Names;
import io.mortise.it.support.TestThreads;
import io.mortise.multilock.MultiLock;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.HoldLog;
import io.mortise.testkit.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.RedissonMultiLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A RedissonMultiLock and one of ours over the same names exclude each other, member by member. */
@Timeout(120)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class RedissonMultiLockTest {
  private static final int ROUNDS = 60;
  private static final int THREADS = 2;

  private static RedisServer server;
  private static LockClient mortise;
  private static RedissonClient redisson;

  private List<String> names;
  private MultiLock ours;
  private RLock theirs;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
    mortise = LockClient.create(server.uri(), MemberServers.options().build());
    Config config = new Config();
    config.setThreads(4).setNettyThreads(4);
    config
        .useSingleServer()
        .setAddress(server.uri())
        .setConnectionMinimumIdleSize(1)
        .setConnectionPoolSize(16)
        .setSubscriptionConnectionMinimumIdleSize(1);
    redisson = Redisson.create(config);
  }

  @AfterAll
  static void stop() {
    redisson.shutdown();
    mortise.close();
    server.close();
  }

  @BeforeEach
  void open() {
    String prefix = Names.fresh();
    names = Stream.of(":a", ":b", ":c").map(prefix::concat).toList();
    ours = new MultiLock(names.stream().map(name -> new RedisLock(mortise, name)).toList());
    theirs = theirs(names);
  }

  private static RLock theirs(List<String> names) {
    return new RedissonMultiLock(names.stream().map(redisson::getLock).toArray(RLock[]::new));
  }

  @Test
  void oursExcludesTheirsUntilItIsReleased() {
    ours.lock();
    assertFalse(theirs.tryLock());
    assertFalse(theirs(names.subList(1, 2)).tryLock());
    ours.unlock();
    assertTrue(theirs.tryLock());
    theirs.unlock();
  }

  @Test
  void theirsExcludesOursUntilItIsReleased() {
    theirs.lock();
    assertFalse(ours.tryLock());
    for (String name : names) {
      assertFalse(new RedisLock(mortise, name).tryLock());
    }
    assertTrue(ours.isLocked());
    theirs.unlock();
    assertTrue(ours.tryLock());
    ours.unlock();
  }

  @Test
  void oneMemberOfTheirsIsEnoughToExcludeOurs() {
    RLock member = redisson.getLock(names.get(1));
    member.lock();
    assertFalse(ours.tryLock());
    assertEquals(1L, server.command("EXISTS", names.get(1)));
    assertEquals(0L, server.command("EXISTS", names.get(0)));
    member.unlock();
    assertTrue(ours.tryLock());
    ours.unlock();
  }

  @Test
  void whoWaitsIsInWhenTheOtherKindReleases() throws Exception {
    theirs.lock();
    AsyncCall<Boolean> we = AsyncCall.start(() -> passed(ours));
    we.awaitIn(EngineTypes.PARKED);
    assertFalse(we.isDone());
    theirs.unlock();
    assertTrue(we.get());

    ours.lock();
    AsyncCall<Boolean> they = AsyncCall.start(() -> passed(theirs));
    they.awaitIn(RedissonMultiLock.class);
    assertFalse(they.isDone());
    ours.unlock();
    assertTrue(they.get());
  }

  private static boolean passed(Lock lock) {
    lock.lock();
    lock.unlock();
    return true;
  }

  @Test
  void underAMixedLoadNothingOverlaps(@TempDir Path directory) throws Exception {
    try (HoldLog log = HoldLog.open(directory);
        TestThreads crew = new TestThreads()) {
      for (int i = 0; i < THREADS; i++) {
        String who = "thread " + i;
        crew.start(() -> ourRounds(log, "mortise, " + who));
        crew.start(() -> theirRounds(log, "redisson, " + who));
      }
      crew.join(Duration.ofSeconds(100));
    }
    List<HoldLog.Entry> all = HoldLog.read(directory);
    HoldChecker.Report report = HoldChecker.check(all);
    assertEquals(2 * THREADS * ROUNDS * names.size(), report.holds());
    assertEquals(List.of(), report.overlaps());
    HoldChecker.check(all.stream().filter(hold -> hold.fencingToken() > 0).toList()).assertSafe();
    ClientResources.awaitNone(mortise);
    for (String name : names) {
      assertEquals(0L, server.command("EXISTS", name));
    }
  }

  private void ourRounds(HoldLog log, String who) {
    for (int i = 0; i < ROUNDS; i++) {
      ours.lock();
      try {
        record(log, who, ours.lease().fencingToken());
      } finally {
        ours.unlock();
      }
    }
  }

  private void theirRounds(HoldLog log, String who) {
    for (int i = 0; i < ROUNDS; i++) {
      theirs.lock();
      try {
        record(log, who, 0); // theirs has no token
      } finally {
        theirs.unlock();
      }
    }
  }

  private void record(HoldLog log, String who, long token) {
    names.stream()
        .map(name -> log.acquired(name, who, token))
        .toList()
        .forEach(HoldLog.Hold::released);
  }
}
