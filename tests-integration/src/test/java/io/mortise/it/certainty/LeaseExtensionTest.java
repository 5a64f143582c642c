package io.mortise.it.certainty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.LossStyle;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A re-entry that needs a longer lease, with default options: what it may have set is released. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class LeaseExtensionTest {
  private static RedisServer server;

  private FaultProxy proxy;
  private LockClient client;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void open() {
    proxy = FaultProxy.to(server);
    client = LockClient.create(proxy.uri());
  }

  @AfterEach
  void close() {
    proxy.restore();
    client.close();
    proxy.close();
  }

  private static boolean isFree(String name) {
    return server.command("EXISTS", name).equals(0L);
  }

  @Test
  void aLengtheningWhoseReplyIsLostLeavesNoLockBehind() {
    RedisLock lock = new RedisLock(client, Names.fresh());
    lock.lock(Duration.ofSeconds(1));
    proxy.loseNextReply(LossStyle.SILENT, FaultProxy.containing(lock.name()));

    assertThrows(RuntimeException.class, () -> lock.lock(Duration.ofHours(1)));

    assertThrows(LeaseLostException.class, lock::unlock);
    proxy.restore();
    Eventually.until("the lock is free", () -> isFree(lock.name()));
    Eventually.until("nothing is pending", () -> client.status().pendingReleases() == 0);
  }

  @Test
  void aLengtheningThatIsRefusedInTimeIsReleasedByTheUnlock() {
    RedisLock lock = new RedisLock(client, Names.fresh());
    lock.lock();
    proxy.loseNextReply(LossStyle.SILENT, FaultProxy.containing(lock.name()));

    assertThrows(LockException.class, () -> lock.lock(Duration.ofHours(1)));

    lock.unlock();
    assertTrue(isFree(lock.name()));
  }

  @Test
  void aLengtheningThatComesAfterTheEndLeavesNoLockBehind() {
    RedisLock warm = new RedisLock(client, Names.fresh());
    warm.lock(Duration.ofSeconds(5));
    warm.lock(Duration.ofSeconds(10));
    warm.unlock();
    warm.unlock();
    proxy.delay(Duration.ofMillis(30));
    for (int round = 0; round < 10; round++) {
      RedisLock lock = new RedisLock(client, Names.fresh());
      lock.lock(Duration.ofMillis(400));
      Lease lease = lock.lease();
      Eventually.until("it is nearly over", () -> lease.remaining().toMillis() <= 50);
      try {
        lock.lock(Duration.ofHours(1));
        lock.unlock();
      } catch (LeaseLostException expected) {
        // as it should be: the answer comes after the end
      }
      unlock(lock);
      Eventually.until("the lock is free", () -> isFree(lock.name()));
    }
  }

  /** One thread sees the old end, another has just lengthened the hold. */
  @Test
  void aHoldThatWasLengthenedIsNotLostByWhoSawItsOldEnd() throws Exception {
    LockClient direct = LockClient.create(server.uri());
    AtomicInteger lostAfterwards = new AtomicInteger();
    long endNanos = System.nanoTime() + Duration.ofSeconds(4).toNanos();
    try (TestThreads crew = new TestThreads()) {
      for (int i = 0; i < 6; i++) {
        crew.start(
            () -> {
              while (System.nanoTime() - endNanos < 0) {
                if (lengthensAndLoses(new RedisLock(direct, Names.fresh()))) {
                  lostAfterwards.incrementAndGet();
                }
              }
            });
      }
      crew.join(Duration.ofSeconds(30));
    } finally {
      direct.close();
    }
    assertEquals(0, lostAfterwards.get(), "lost although a deadline far away was shown");
    Eventually.until(
        "no lock is left", () -> server.command("KEYS", "it:*").toString().equals("[]"));
  }

  private static boolean lengthensAndLoses(RedisLock lock) {
    try {
      lock.lock(Duration.ofMillis(5));
    } catch (LockException tooLate) {
      return false;
    }
    LockSupport.parkNanos(1_000L * (1_500 + ThreadLocalRandom.current().nextInt(1_600)));
    boolean entered = false;
    boolean lost = false;
    try {
      lock.lock();
      entered = true;
    } catch (LeaseLostException late) {
      // its time was over
    }
    Lease lease = lock.lease();
    if (entered || lease.remaining().toMillis() > 1_000) {
      LockSupport.parkNanos(300_000);
      lost = lease.state() == Lease.State.LOST;
    }
    unlock(lock);
    if (entered) {
      unlock(lock);
    }
    return lost;
  }

  private static void unlock(RedisLock lock) {
    try {
      lock.unlock();
    } catch (IllegalMonitorStateException lost) {
      // which is told, and all that is asked here is what stays in Redis
    }
  }
}
