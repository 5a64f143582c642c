package io.mortise.it.fairlock;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.ChildJvm;
import io.mortise.it.support.Eventually;
import io.mortise.testkit.JavaProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import redis.clients.jedis.RedisClient;

/**
 * A child JVM whose threads wait for a fair lock. {@code queue <who>} starts a thread that locks,
 * appends its name to the list of served waiters, and unlocks; {@code keep <who>} one that does not
 * unlock. {@code close} closes the client and ends the process.
 */
final class FairProcess {
  private FairProcess() {}

  /** Arguments: URI, name, waiter timeout in ms, lease in ms, list of served waiters. */
  public static void main(String[] arguments) throws IOException {
    LockOptions options =
        ChildJvm.options().lease(Duration.ofMillis(Long.parseLong(arguments[3]))).build();
    ExecutorService threads = Executors.newCachedThreadPool();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    try (LockClient client = LockClient.create(arguments[0], options);
        RedisClient redis = RedisClient.create(arguments[0])) {
      Duration waiterTimeout = Duration.ofMillis(Long.parseLong(arguments[2]));
      RedisFairLock lock = new RedisFairLock(client, arguments[1], waiterTimeout);
      System.out.println("ready");
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] words = line.split(" ", -1);
        if (words[0].equals("close")) {
          break;
        }
        threads.execute(() -> serve(lock, redis, arguments[4], words));
      }
    }
    System.out.println("closed");
    threads.shutdownNow();
  }

  private static void serve(RedisFairLock lock, RedisClient redis, String served, String[] words) {
    lock.lock();
    redis.rpush(served, words[1]);
    System.out.println("served " + words[1] + " " + System.nanoTime());
    if (words[0].equals("queue")) {
      lock.unlock();
    }
  }

  /** Starts it with the default lease. */
  static JavaProcess start(ServedOrder order) throws InterruptedException {
    return start(order, order.waiterTimeout());
  }

  static JavaProcess start(ServedOrder order, Duration waiterTimeout) throws InterruptedException {
    return start(order, waiterTimeout, LockOptions.defaults().lease());
  }

  static JavaProcess start(ServedOrder order, Duration waiterTimeout, Duration lease)
      throws InterruptedException {
    JavaProcess child =
        ChildJvm.start(
            FairProcess.class,
            order.server().uri(),
            order.name,
            Long.toString(waiterTimeout.toMillis()),
            Long.toString(lease.toMillis()),
            order.served);
    child.awaitLine("ready", Eventually.LIVENESS);
    return child;
  }
}
