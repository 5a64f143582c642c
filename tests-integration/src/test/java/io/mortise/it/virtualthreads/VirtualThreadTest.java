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
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Virtual threads own locks, wait for them by the thousand, and are interrupted. */
@EnabledForJreRange(min = JRE.JAVA_21)
@Tag("virtual-threads")
@Timeout(60)
class VirtualThreadTest {
  private static final Duration LONG = Duration.ofSeconds(50);

  private static RedisServer server;
  private LockClient client;
  private LockClient other;
  private TestThreads crew;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void connect() throws ReflectiveOperationException {
    LockOptions options = LockOptions.builder().subscriptionLinger(Duration.ofMillis(100)).build();
    client = LockClient.create(server.uri(), options);
    other = LockClient.create(server.uri(), options);
    crew = VirtualThreads.crew();
  }

  @AfterEach
  void nothingLeaks() {
    crew.close();
    ClientResources.awaitNone(client);
    ClientResources.awaitNone(other);
    client.close();
    other.close();
  }

  @Test
  void thousandsContendForOneLockOfTwoClients() throws Exception {
    int threads = 3_000;
    String name = Names.fresh();
    AtomicInteger unguarded = new AtomicInteger();
    for (int i = 0; i < threads; i++) {
      DistributedLock lock = new RedisLock(i % 2 == 0 ? client : other, name);
      crew.start(
          () -> {
            assertTrue(VirtualThreads.isVirtual(Thread.currentThread()));
            lock.lock();
            try {
              assertTrue(lock.isHeldByCurrentThread());
              unguarded.set(unguarded.get() + 1);
            } finally {
              lock.unlock();
            }
          });
    }
    crew.join(LONG);
    assertEquals(threads, unguarded.get());
  }

  @Test
  void thousandsContendForManyLocks() throws Exception {
    int threads = 5_000;
    List<String> names = Stream.generate(Names::fresh).limit(250).toList();
    AtomicIntegerArray unguarded = new AtomicIntegerArray(names.size());
    for (int i = 0; i < threads; i++) {
      int which = i % names.size();
      DistributedLock lock =
          new RedisLock(i / names.size() % 2 == 0 ? client : other, names.get(which));
      crew.start(
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
    crew.join(LONG);
    for (int which = 0; which < names.size(); which++) {
      assertEquals(threads / names.size(), unguarded.get(which));
    }
  }

  @Test
  void interruptsOfThousandsOfWaitersEndThemAndDoNotHarmTheOthers() throws Exception {
    String name = Names.fresh();
    DistributedLock holder = new RedisLock(other, name);
    holder.lock();
    AtomicInteger begun = new AtomicInteger();
    AtomicInteger interrupted = new AtomicInteger();
    AtomicInteger served = new AtomicInteger();
    List<Future<?>> waiters = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      DistributedLock lock = new RedisLock(i % 2 == 0 ? client : other, name);
      waiters.add(
          crew.ask(
              () -> {
                begun.incrementAndGet();
                try {
                  lock.lockInterruptibly();
                } catch (InterruptedException e) {
                  interrupted.incrementAndGet();
                  return false;
                }
                served.incrementAndGet();
                lock.unlock();
                return true;
              }));
    }
    await().until(() -> begun.get() == waiters.size());
    await().until(() -> client.status().channels() == 1);
    int cancelled = waiters.size() / 2;
    for (int i = 0; i < cancelled; i++) {
      assertTrue(waiters.get(i).cancel(true));
    }
    await().atMost(LONG).until(() -> interrupted.get() == cancelled);
    assertEquals(0, served.get());
    assertFalse(new RedisLock(client, name).tryLock());
    holder.unlock();
    await().atMost(LONG).until(() -> served.get() == waiters.size() - cancelled);
    assertEquals(cancelled, interrupted.get());
  }

  /** Interrupts hit commands that are on their way: these are answered, and nothing stays held. */
  @Test
  void interruptsDuringHandOversLeaveNoLockHeld() throws Exception {
    String name = Names.fresh();
    AtomicInteger ended = new AtomicInteger();
    List<Future<?>> waiters = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      DistributedLock lock = new RedisLock(i % 2 == 0 ? client : other, name);
      waiters.add(
          crew.ask(
              () -> {
                try {
                  lock.lockInterruptibly();
                  lock.unlock();
                  return true;
                } catch (InterruptedException e) {
                  return false;
                } finally {
                  ended.incrementAndGet();
                }
              }));
    }
    await().pollInterval(Duration.ofMillis(1)).until(() -> ended.get() > 100);
    waiters.stream().filter(each -> each.hashCode() % 2 == 0).forEach(each -> each.cancel(true));
    await().atMost(LONG).until(() -> ended.get() >= started(waiters));
    await().until(() -> !new RedisLock(client, name).isLocked());
  }

  /** Those that were cancelled before their thread had begun never end. */
  private static long started(List<Future<?>> waiters) {
    return waiters.stream().filter(each -> !each.isCancelled()).count();
  }
}
