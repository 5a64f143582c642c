package io.mortise.it.fairlock;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.it.support.ChildJvm;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.RedissonPeers;
import io.mortise.testkit.JavaProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import redis.clients.jedis.RedisClient;

/** As {@link FairProcess}, with the fair lock of Redisson. */
final class RedissonProcess {
  private RedissonProcess() {}

  /** Arguments: URI, name, list of served waiters. */
  public static void main(String[] arguments) throws IOException {
    ExecutorService threads = Executors.newCachedThreadPool();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    RedissonClient redisson = RedissonPeers.redisson(arguments[0], RedissonPeers.LONG_LEASE);
    try (RedisClient redis = RedisClient.create(arguments[0])) {
      RLock lock = redisson.getFairLock(arguments[1]);
      System.out.println("ready");
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String who = line.split(" ", -1)[1];
        threads.execute(
            () -> {
              lock.lock();
              redis.rpush(arguments[2], who);
              lock.unlock();
            });
      }
    }
    redisson.shutdown();
    threads.shutdownNow();
  }

  static JavaProcess start(ServedOrder order) throws InterruptedException {
    JavaProcess child =
        ChildJvm.start(RedissonProcess.class, order.server().uri(), order.name, order.served);
    child.awaitLine("ready", Eventually.LIVENESS);
    return child;
  }
}
