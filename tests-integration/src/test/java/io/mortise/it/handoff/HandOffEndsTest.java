package io.mortise.it.handoff;

import static io.mortise.it.handoff.Turns.awaitQueued;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.BriefWait;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import io.mortise.it.support.TestThreads;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What ends while a hold is handed off: the time of a wait, the hold, the client. */
@Timeout(120)
class HandOffEndsTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @RegisterExtension final TestThreads threads = new TestThreads();

  @RegisterExtension final LockFixture tested = LockFixture.direct(redis, withoutLimit());

  private final String name = tested.name();

  /** An attempt without an answer stays pending until its lease is over. */
  private static final Duration UNANSWERED = Duration.ofSeconds(8);

  /** The locks whose holds are handed off. */
  enum Kind {
    PLAIN,
    WRITE
  }

  /** Without one that a test reaches. */
  private static LockOptions.Builder withoutLimit() {
    return Turns.options(100, Duration.ofMinutes(1)).lease(UNANSWERED);
  }

  private DistributedLock lock(Kind kind) {
    return switch (kind) {
      case PLAIN -> new RedisLock(tested.client(), name);
      case WRITE -> new RedisReadWriteLock(tested.client(), name).writeLock();
    };
  }

  @ParameterizedTest
  @EnumSource
  void waitsThatTimeOutLeaveNothing(Kind kind) throws Exception {
    DistributedLock lock = lock(kind);
    for (int i = 0; i < 6; i++) {
      threads.start(
          () -> {
            for (int cycle = 0; cycle < 1_500; cycle++) {
              Duration wait = Duration.ofNanos(ThreadLocalRandom.current().nextInt(300_000));
              if (BriefWait.tryLock(lock, wait)) {
                lock.unlock();
              }
            }
          });
    }
    threads.join(Duration.ofSeconds(60));
    until("the lock is free", () -> !redis.exists(name));
    ClientResources.awaitNone(tested.client());
    until("no writer is registered", () -> !redis.exists("mortise_write_waiters:{" + name + "}"));
    assertFalse(redis.exists("mortise_write_intent:{" + name + "}"));
  }

  @ParameterizedTest
  @EnumSource
  void aForcedReleaseNotifiesTheHolderAfterTheHandOff(Kind kind) throws Exception {
    DistributedLock lock = lock(kind);
    List<Lease> acquired = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch done = new CountDownLatch(1);
    Lease first = lock.tryAcquire().orElseThrow();
    for (int i = 0; i < 2; i++) {
      threads.start(
          () -> {
            Lease lease = lock.acquire(Duration.ofSeconds(30)).orElseThrow();
            acquired.add(lease);
            if (acquired.size() == 2) {
              done.await();
            } else {
              lease.close();
            }
          });
    }
    awaitQueued(2);
    first.close();
    until("the second has it", () -> acquired.size() == 2);
    assertTrue(lock.forceUnlock());
    until("it is lost", () -> acquired.get(1).loss().isPresent());
    assertEquals(Reason.FORCED, acquired.get(1).loss().orElseThrow().reason());
    done.countDown();
  }

  @ParameterizedTest
  @EnumSource
  void aClientThatIsClosedReleasesAHoldThatIsBeingHandedOff(Kind kind) throws Exception {
    for (int round = 0; round < 20; round++) {
      tested.use(withoutLimit());
      LockClient client = tested.client();
      DistributedLock lock = lock(kind);
      for (int i = 0; i < 4; i++) {
        threads.start(
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
      until("they work", () -> client.status().contended() > 0);
      client.close();
      threads.join(Duration.ofSeconds(20));
      assertFalse(redis.exists(name), "after round " + round);
      assertThrows(LockException.class, lock::lock);
    }
  }
}
