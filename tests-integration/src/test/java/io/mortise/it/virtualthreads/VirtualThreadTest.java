package io.mortise.it.virtualthreads;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.it.support.TestThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Thousands of virtual threads own locks, wait for them, and are interrupted. */
@EnabledForJreRange(min = JRE.JAVA_21)
@Tag("virtual-threads")
@Timeout(60)
class VirtualThreadTest {
  private static final Duration LIMIT = Duration.ofSeconds(50);

  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private LockClient client;
  private LockClient other;
  private TestThreads threads;

  @BeforeEach
  void connect() throws ReflectiveOperationException {
    LockOptions options =
        LockOptions.builder().tuning(t -> t.subscriptionLinger(Duration.ofMillis(100))).build();
    client = LockClient.create(redis.uri(), options);
    other = LockClient.create(redis.uri(), options);
    threads = VirtualThreads.start();
  }

  @AfterEach
  void nothingIsLeft() {
    threads.close();
    ClientResources.awaitNone(client);
    ClientResources.awaitNone(other);
    client.close();
    other.close();
  }

  /** Starts threads, each with a lock of that name by one of the two clients. */
  private List<Future<?>> startThreads(int count, String name, LockUse use) {
    List<Future<?>> started = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      DistributedLock lock = new RedisLock(i % 2 == 0 ? client : other, name);
      started.add(
          threads.ask(
              () -> {
                use.run(lock);
                return true;
              }));
    }
    return started;
  }

  @FunctionalInterface
  private interface LockUse {
    void run(DistributedLock lock) throws Exception;
  }

  @Test
  void thousandsContendForOneLockOfTwoClients() throws Exception {
    AtomicInteger unguarded = new AtomicInteger();
    startThreads(
        3_000,
        Names.fresh(),
        lock -> {
          assertTrue(VirtualThreads.isVirtual(Thread.currentThread()));
          lock.lock();
          try {
            assertTrue(lock.isHeldByCurrentThread());
            unguarded.set(unguarded.get() + 1);
          } finally {
            lock.unlock();
          }
        });
    threads.join(LIMIT);
    assertEquals(3_000, unguarded.get());
  }

  @Test
  void thousandsContendForManyLocks() throws Exception {
    int count = 5_000;
    List<String> names = Stream.generate(Names::fresh).limit(250).toList();
    AtomicIntegerArray unguarded = new AtomicIntegerArray(names.size());
    for (int i = 0; i < count; i++) {
      int which = i % names.size();
      DistributedLock lock =
          new RedisLock(i / names.size() % 2 == 0 ? client : other, names.get(which));
      threads.start(
          () -> {
            lock.lock();
            try {
              lock.lock(); // re-entry: the owner is the virtual thread
              unguarded.set(which, unguarded.get(which) + 1);
              lock.unlock();
            } finally {
              lock.unlock();
            }
          });
    }
    threads.join(LIMIT);
    for (int which = 0; which < names.size(); which++) {
      assertEquals(count / names.size(), unguarded.get(which));
    }
  }

  @Test
  void interruptsOfThousandsOfWaitersEndThemAndDoNotHarmTheOthers() throws Exception {
    String name = Names.fresh();
    DistributedLock holder = new RedisLock(other, name);
    holder.lock();
    AtomicInteger started = new AtomicInteger();
    AtomicInteger interrupted = new AtomicInteger();
    AtomicInteger served = new AtomicInteger();
    List<Future<?>> waiters =
        startThreads(
            2_000,
            name,
            lock -> {
              started.incrementAndGet();
              try {
                lock.lockInterruptibly();
              } catch (InterruptedException e) {
                interrupted.incrementAndGet();
                return;
              }
              served.incrementAndGet();
              lock.unlock();
            });
    await().until(() -> started.get() == waiters.size());
    await().until(() -> client.status().channels() == 1);
    int cancelled = waiters.size() / 2;
    for (int i = 0; i < cancelled; i++) {
      assertTrue(waiters.get(i).cancel(true));
    }
    await().atMost(LIMIT).until(() -> interrupted.get() == cancelled);
    assertEquals(0, served.get());
    assertFalse(new RedisLock(client, name).tryLock());
    holder.unlock();
    await().atMost(LIMIT).until(() -> served.get() == waiters.size() - cancelled);
    assertEquals(cancelled, interrupted.get());
  }

  /** Commands that are in progress at an interrupt are answered, and nothing stays held. */
  @Test
  void interruptsDuringHandOffsLeaveNoLockHeld() throws Exception {
    String name = Names.fresh();
    AtomicInteger ended = new AtomicInteger();
    List<Future<?>> waiters =
        startThreads(
            2_000,
            name,
            lock -> {
              try {
                lock.lockInterruptibly();
                lock.unlock();
              } catch (InterruptedException e) {
                // cancelled below
              } finally {
                ended.incrementAndGet();
              }
            });
    await().pollInterval(Duration.ofMillis(1)).until(() -> ended.get() > 100);
    waiters.stream().filter(each -> each.hashCode() % 2 == 0).forEach(each -> each.cancel(true));
    await().atMost(LIMIT).until(() -> ended.get() >= started(waiters));
    await().until(() -> !new RedisLock(client, name).isLocked());
  }

  /** Waiters that are cancelled before their thread starts never end. */
  private static long started(List<Future<?>> waiters) {
    return waiters.stream().filter(each -> !each.isCancelled()).count();
  }
}
