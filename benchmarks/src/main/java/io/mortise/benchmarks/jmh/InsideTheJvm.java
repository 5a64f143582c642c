package io.mortise.benchmarks.jmh;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.testkit.RedisServer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Measures calls that send no command: re-entry, questions of ownership, and an attempt that the
 * local queue refuses because another thread of the same client has the lock. A {@link
 * ReentrantLock} is the scale.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@SuppressWarnings({"NullAway.Init", "LockNotBeforeTry"}) // set up first; a try is not measured
public class InsideTheJvm {
  private RedisServer server;
  private LockClient client;
  private DistributedLock mine;
  private DistributedLock anothers;
  private DistributedLock nobodys;
  private Thread holder;
  private final CountDownLatch over = new CountDownLatch(1);
  private final ReentrantLock scale = new ReentrantLock();

  /** Holds one name on the thread that measures, and one on another. */
  @Setup
  public void hold() throws InterruptedException {
    server = RedisServer.start();
    client = LockClient.create(server.uri());
    mine = new RedisLock(client, "mine");
    anothers = new RedisLock(client, "another's");
    nobodys = new RedisLock(client, "nobody's");
    mine.lock();
    scale.lock();
    CountDownLatch held = new CountDownLatch(1);
    holder =
        new Thread(
            () -> {
              anothers.lock();
              held.countDown();
              try {
                over.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              } finally {
                anothers.unlock();
              }
            });
    holder.start();
    held.await();
  }

  /** Releases all. */
  @TearDown
  public void release() throws InterruptedException {
    over.countDown();
    holder.join();
    mine.unlock();
    scale.unlock();
    client.close();
    server.close();
  }

  /** Locks a lock that the thread holds, and unlocks it once. */
  @Benchmark
  public void reentry() {
    mine.lock();
    mine.unlock();
  }

  /** The same in the JVM's own lock. */
  @Benchmark
  public void reentryOfReentrantLock() {
    scale.lock();
    scale.unlock();
  }

  /** Asks about a lock that the thread holds. */
  @Benchmark
  public boolean ownershipOfOnesOwn() {
    return mine.isHeldByCurrentThread();
  }

  /** Asks about a lock that it does not hold. */
  @Benchmark
  public boolean ownershipOfNobodys() {
    return nobodys.isHeldByCurrentThread();
  }

  /** Asks for the hold count. */
  @Benchmark
  public int holdCount() {
    return mine.holdCount();
  }

  /** Tries a lock that another thread of this client holds: the local queue answers. */
  @Benchmark
  public boolean refusedByTheLocalQueue() {
    return anothers.tryLock();
  }

  /** Two lock objects of one name are one lock: making one is part of using it. */
  @Benchmark
  public DistributedLock construction() {
    return new RedisLock(client, "mine");
  }
}
