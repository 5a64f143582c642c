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
import io.mortise.it.support.SharedRedis;
import io.mortise.it.support.TestThreads;
import io.mortise.multilock.MultiLock;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.HoldLog;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.RedissonMultiLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A RedissonMultiLock and a MultiLock over the same names exclude each other, member by member. */
@Timeout(120)
class RedissonMultiLockTest {
  private static final int ROUNDS = 60;
  private static final int THREADS = 2;

  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static LockClient mortise;
  private static RedissonClient redisson;

  private final List<String> names = Stream.generate(Names::fresh).limit(3).sorted().toList();
  private final MultiLock ours =
      new MultiLock(names.stream().map(name -> new RedisLock(mortise, name)).toList());
  private final RLock theirs = theirs(names);

  @BeforeAll
  static void start() {
    mortise = LockClient.create(redis.uri(), MemberServers.options().build());
    Config config = new Config();
    config.setThreads(4).setNettyThreads(4);
    config
        .useSingleServer()
        .setAddress(redis.uri())
        .setConnectionMinimumIdleSize(1)
        .setConnectionPoolSize(16)
        .setSubscriptionConnectionMinimumIdleSize(1);
    redisson = Redisson.create(config);
  }

  @AfterAll
  static void stop() {
    redisson.shutdown();
    mortise.close();
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
    assertTrue(redis.exists(names.get(1)));
    assertFalse(redis.exists(names.get(0)));
    member.unlock();
    assertTrue(ours.tryLock());
    ours.unlock();
  }

  @Test
  void aWaiterOfEitherKindEntersWhenTheOtherKindReleases() throws Exception {
    theirs.lock();
    AsyncCall<Boolean> ourWaiter = AsyncCall.start(() -> cycled(ours));
    ourWaiter.awaitIn(EngineTypes.PARKED);
    assertFalse(ourWaiter.isDone());
    theirs.unlock();
    assertTrue(ourWaiter.get());

    ours.lock();
    AsyncCall<Boolean> theirWaiter = AsyncCall.start(() -> cycled(theirs));
    theirWaiter.awaitIn(RedissonMultiLock.class);
    assertFalse(theirWaiter.isDone());
    ours.unlock();
    assertTrue(theirWaiter.get());
  }

  private static boolean cycled(Lock lock) {
    lock.lock();
    lock.unlock();
    return true;
  }

  @Test
  void underAMixedLoadNothingOverlaps(@TempDir Path directory) throws Exception {
    try (HoldLog log = HoldLog.open(directory);
        TestThreads threads = new TestThreads()) {
      for (int i = 0; i < THREADS; i++) {
        String who = "thread " + i;
        threads.start(
            () -> rounds(ours, log, "mortise, " + who, () -> ours.lease().fencingToken()));
        threads.start(() -> rounds(theirs, log, "redisson, " + who, () -> 0)); // has no tokens
      }
      threads.join(Duration.ofSeconds(100));
    }
    List<HoldLog.Entry> all = HoldLog.read(directory);
    HoldChecker.Report report = HoldChecker.check(all);
    assertEquals(2 * THREADS * ROUNDS * names.size(), report.holds());
    assertEquals(List.of(), report.overlaps());
    HoldChecker.check(all.stream().filter(hold -> hold.fencingToken() > 0).toList()).assertSafe();
    ClientResources.awaitNone(mortise);
    for (String name : names) {
      assertFalse(redis.exists(name));
    }
  }

  private void rounds(Lock lock, HoldLog log, String who, LongSupplier token) {
    for (int i = 0; i < ROUNDS; i++) {
      lock.lock();
      try {
        long current = token.getAsLong();
        names.stream()
            .map(name -> log.acquired(name, who, current))
            .toList()
            .forEach(HoldLog.Hold::released);
      } finally {
        lock.unlock();
      }
    }
  }
}
