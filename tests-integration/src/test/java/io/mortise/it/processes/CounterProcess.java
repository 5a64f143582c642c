package io.mortise.it.processes;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.ChildJvm;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.HoldLog;
import java.nio.file.Path;
import java.time.Duration;
import redis.clients.jedis.RedisClient;

/** A child JVM whose threads read a counter in Redis and write it back, not atomically. */
final class CounterProcess {
  static final int THREADS = 3;
  static final int CYCLES = 80;

  private CounterProcess() {}

  /** Arguments: URI, name of the lock, key of the counter, directory of the log. */
  public static void main(String[] arguments) throws Exception {
    try (LockClient client = LockClient.create(arguments[0], ChildJvm.options().build());
        RedisClient redis = RedisClient.create(arguments[0]);
        HoldLog log = HoldLog.open(Path.of(arguments[3]));
        TestThreads threads = new TestThreads()) {
      DistributedLock lock = new RedisLock(client, arguments[1]);
      for (int thread = 0; thread < THREADS; thread++) {
        String who = "thread-" + thread;
        threads.start(() -> count(lock, redis, arguments[2], log, who));
      }
      threads.join(Duration.ofSeconds(60));
    }
    System.out.println("done");
  }

  private static void count(
      DistributedLock lock, RedisClient redis, String counter, HoldLog log, String who) {
    for (int cycle = 0; cycle < CYCLES; cycle++) {
      lock.lock();
      try {
        HoldLog.Hold hold = log.acquired(lock.name(), who, lock.lease().fencingToken());
        String read = redis.get(counter);
        long value = read == null ? 0 : Long.parseLong(read);
        redis.set(counter, Long.toString(value + 1));
        hold.released();
      } finally {
        lock.unlock();
      }
    }
  }
}
