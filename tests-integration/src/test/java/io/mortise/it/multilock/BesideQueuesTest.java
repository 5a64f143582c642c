package io.mortise.it.multilock;

import static io.mortise.it.support.Eventually.LIVENESS;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.TestThreads;
import io.mortise.multilock.MultiLock;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
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
  private static final Duration WAIT = Duration.ofSeconds(35);

  @RegisterExtension static final MemberServers servers = new MemberServers(2);

  @Test
  void getsIn() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    try (TestThreads threads = new TestThreads()) {
      for (int i = 0; i < servers.count() * CLIENTS; i++) {
        int server = i % servers.count();
        RedisLock lock = lock(server);
        threads.start(() -> lockUntil(end, lock));
      }
      MultiLock both =
          new MultiLock(
              IntStream.range(0, servers.count()).mapToObj(BesideQueuesTest::lock).toList());
      for (int i = 0; i < ROUNDS; i++) {
        assertTrue(both.tryLock(WAIT), "beside queues at both members");
        both.unlock();
      }
      end.countDown();
      threads.join(LIVENESS);
    }
  }

  /** One of a process of its own, whose releases have time on a busy machine. */
  private static RedisLock lock(int server) {
    LockOptions options = MemberServers.options().commandTimeout(Duration.ofSeconds(10)).build();
    LockClient client = servers.client(servers.server(server).uri(), options);
    return new RedisLock(client, servers.name(server));
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
