package io.mortise.it.multilock;

import static io.mortise.it.support.Eventually.LIVENESS;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.RedisLock;
import io.mortise.it.support.TestThreads;
import io.mortise.multilock.MultiLock;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A MultiLock whose members others want one by one, all the time: each member has a queue, so none
 * is ever free by chance when the other one is.
 */
@Timeout(120)
class BesideQueuesTest {
  private static final int CLIENTS = 3; // at each member
  private static final int ROUNDS = 3;
  private static final Duration INSIDE = Duration.ofMillis(40);

  @RegisterExtension
  static final MemberServers servers = new MemberServers(2, Duration.ofSeconds(10));

  @Test
  void getsIn() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    try (TestThreads threads = new TestThreads()) {
      for (int i = 0; i < servers.count() * CLIENTS; i++) {
        int server = i % servers.count();
        RedisLock lock = new RedisLock(servers.client(server), servers.name(server));
        threads.start(() -> lockUntil(end, lock));
      }
      MultiLock both = servers.multi();
      for (int i = 0; i < ROUNDS; i++) {
        assertTrue(both.tryLock(LIVENESS), "beside queues at both members");
        both.unlock();
      }
      end.countDown();
      threads.join(LIVENESS);
    }
  }

  private static void lockUntil(CountDownLatch end, RedisLock lock) throws InterruptedException {
    boolean ended = false;
    while (!ended) {
      lock.lock();
      try {
        ended = end.await(INSIDE.toMillis(), TimeUnit.MILLISECONDS);
      } finally {
        lock.unlock();
      }
    }
  }
}
