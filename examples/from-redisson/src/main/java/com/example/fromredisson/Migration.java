package com.example.fromredisson;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A service half way: one part locks by Redisson, the other by Mortise, and they exclude. */
public final class Migration {
  private static final String NAME = "order:42";
  private static final int SALES = 100;

  private int sold; // guarded by whichever lock has that name

  private void sell(Lock lock) {
    for (int sale = 0; sale < SALES; sale++) {
      lock.lock();
      try {
        sold++;
      } finally {
        lock.unlock();
      }
    }
  }

  /** Sells with two threads of each kind; returns how much was sold. */
  int run(String uri) throws InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    Config config = new Config();
    config.useSingleServer().setAddress(uri);
    RedissonClient redisson = Redisson.create(config);
    try (LockClient locks = LockClient.create(uri)) {
      Lock before = redisson.getLock(NAME);
      DistributedLock after = locks.lock(NAME); // the same lock
      for (Lock lock : new Lock[] {before, before, after, after}) {
        threads.execute(() -> sell(lock));
      }
      threads.shutdown();
      threads.awaitTermination(1, TimeUnit.MINUTES);
    } finally {
      redisson.shutdown();
    }
    return sold;
  }

  /**
   * Prints how much was sold.
   *
   * @param arguments the URI of Redis
   */
  public static void main(String... arguments) throws InterruptedException {
    String uri = arguments.length > 0 ? arguments[0] : "redis://localhost:6379";
    System.out.println(new Migration().run(uri) + " of " + 4 * SALES);
  }
}
