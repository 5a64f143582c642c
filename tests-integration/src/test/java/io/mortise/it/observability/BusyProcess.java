package io.mortise.it.observability;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.BriefWait;
import io.mortise.it.support.ChildJvm;
import io.mortise.multilock.MultiLock;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Locks and unlocks a lot, of every family, with and without contention; then says so. */
final class BusyProcess {
  private static final int THREADS = 8;
  private static final int CYCLES = 60;

  private BusyProcess() {}

  public static void main(String[] arguments) throws Exception {
    String uri = arguments[0];
    String name = arguments[1];
    LockOptions options = ChildJvm.options().build();
    try (LockClient first = LockClient.create(uri, options);
        LockClient second = LockClient.create(uri, options)) {
      for (int i = 0; i < 2_000; i++) {
        first.lock(name + ":alone").withLock(() -> {});
      }
      ExecutorService threads = Executors.newFixedThreadPool(THREADS);
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        LockClient client = i % 2 == 0 ? first : second;
        all.add(
            threads.submit(
                () -> {
                  for (DistributedLock lock : locks(client, name)) {
                    cycle(lock);
                  }
                  return null;
                }));
      }
      for (Future<?> each : all) {
        each.get();
      }
      threads.shutdown();
    }
    System.out.println("done");
  }

  private static List<DistributedLock> locks(LockClient client, String name) {
    RedisReadWriteLock shared = new RedisReadWriteLock(client, name + ":rw");
    return List.of(
        new RedisLock(client, name),
        new RedisFairLock(client, name + ":fair"),
        shared.readLock(),
        shared.writeLock(),
        new MultiLock(client.lock(name + ":a"), client.lock(name + ":b")));
  }

  private static void cycle(DistributedLock lock) throws InterruptedException {
    for (int i = 0; i < CYCLES; i++) {
      lock.withLock(() -> {});
      if (BriefWait.tryLock(lock, Duration.ofMillis(2))) {
        lock.unlock();
      }
    }
  }
}
