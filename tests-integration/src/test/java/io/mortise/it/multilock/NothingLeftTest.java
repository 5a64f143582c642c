package io.mortise.it.multilock;

import static io.mortise.it.support.SharedRedis.calling;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.RedisLock;
import io.mortise.it.support.TestThreads;
import io.mortise.multilock.MultiLock;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * After many rounds with timeouts, interrupts, cancellations and faults the clients use nothing.
 */
class NothingLeftTest {
  private static final int THREADS = 4;
  private static final Duration RUN = Duration.ofSeconds(8);

  @RegisterExtension static final MemberServers servers = new MemberServers(2);

  private final LongAdder acquired = new LongAdder();
  private final LongAdder notAcquired = new LongAdder();
  private final LongAdder interrupted = new LongAdder();
  private final LongAdder failed = new LongAdder();

  @Test
  @Timeout(120)
  void clientsAreIdleAndOnlyTokensAreInRedis() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    try (TestThreads threads = new TestThreads()) {
      for (int i = 0; i < THREADS; i++) {
        Random random = new Random(i);
        List<LockClient> clients =
            i % 2 == 0
                ? List.of(servers.here(0), servers.here(1))
                : List.of(servers.there(0), servers.there(1));
        threads.start(
            () -> {
              while (over.getCount() > 0) {
                round(any(clients, random), random);
              }
            });
      }
      threads.start(() -> injectFaults(new Random(99), over));
      assertFalse(over.await(RUN.toMillis(), TimeUnit.MILLISECONDS));
      over.countDown();
      threads.join(Duration.ofMinutes(1));
    }
    servers.restore();
    System.out.printf(
        "multi-locks under faults: %s acquired, %s not, %s interrupted, %s failed%n",
        acquired, notAcquired, interrupted, failed);
    assertTrue(acquired.sum() > 0);
    servers.awaitIdle();
    for (int i = 0; i < 2; i++) {
      assertEquals(List.of(), servers.keys(i));
    }
  }

  /** Two to four of six names on two servers, in any order. */
  private static MultiLock any(List<LockClient> clients, Random random) {
    return new MultiLock(
        random
            .ints(2 + random.nextInt(3), 0, 6)
            .mapToObj(i -> new RedisLock(clients.get(i % 2), servers.name(i % 2) + ":" + i))
            .toList());
  }

  private void round(DistributedLock lock, Random random) {
    Duration wait = Duration.ofMillis(random.nextInt(60));
    Thread self = Thread.currentThread();
    if (random.nextInt(4) == 0) {
      CompletableFuture.delayedExecutor(random.nextInt(30), TimeUnit.MILLISECONDS)
          .execute(self::interrupt);
    }
    try {
      switch (random.nextInt(5)) {
        case 0 -> thread(lock, lock.tryLock());
        case 1 -> thread(lock, lock.tryLock(wait));
        case 2 -> thread(lock, lock.tryLock(wait, Duration.ofSeconds(5)));
        case 3 -> handle(lock.acquire(wait));
        default -> {
          var stage = lock.acquireAsync(wait).toCompletableFuture();
          var closed = stage.thenAccept(this::handle); // also if the stage was cancelled
          if (random.nextBoolean()) {
            stage.cancel(true);
          } else {
            closed.get();
          }
        }
      }
    } catch (InterruptedException e) {
      interrupted.increment();
    } catch (LockException | IllegalMonitorStateException e) {
      failed.increment();
    } catch (ExecutionException e) {
      assertTrue(e.getCause() instanceof LockException, () -> "unexpected: " + e.getCause());
      failed.increment();
    }
  }

  private void thread(DistributedLock lock, boolean locked) {
    (locked ? acquired : notAcquired).increment();
    if (locked) {
      lock.unlock();
    }
  }

  private void handle(Optional<Lease> lease) {
    (lease.isPresent() ? acquired : notAcquired).increment();
    lease.ifPresent(Lease::close);
  }

  private static void injectFaults(Random random, CountDownLatch over) throws InterruptedException {
    while (!over.await(random.nextInt(200), TimeUnit.MILLISECONDS)) {
      int server = random.nextInt(2);
      switch (random.nextInt(4)) {
        case 0 -> servers.proxy(server).closeConnections();
        case 1 ->
            servers.proxy(server).loseNextReply(LossStyle.SILENT, calling("lock/acquire_all"));
        case 2 -> servers.proxy(server).loseNextReply(LossStyle.CLOSE, calling("lock/release"));
        default -> servers.server(server).command("SCRIPT", "FLUSH");
      }
    }
  }
}
