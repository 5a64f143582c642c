package io.mortise.it.waiting;

import static io.mortise.it.support.Eventually.until;
import static io.mortise.it.support.SharedRedis.calling;
import static io.mortise.it.support.SharedRedis.freshName;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * So many threads with so many names that their commands go together, while connections, scripts or
 * answers are lost: each gets the answer to its own command all the same.
 */
@Timeout(120)
class CombinedCommandsTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final int CLIENTS = 2;
  private static final int THREADS = 32;
  private static final int NAMES = 48;
  private static final int CYCLES = 100;

  /** What happens again and again meanwhile. */
  private enum Trouble {
    NONE,
    CONNECTIONS_BREAK {
      @Override
      void strike(FaultProxy proxy) {
        proxy.closeConnections();
      }
    },
    SCRIPTS_ARE_FORGOTTEN {
      @Override
      void strike(FaultProxy proxy) {
        redis.server().command("SCRIPT", "FLUSH");
      }
    },
    ANSWERS_ARE_LOST {
      @Override
      void strike(FaultProxy proxy) {
        proxy.loseNextReply(LossStyle.SILENT, calling("lock/acquire"));
      }
    };

    void strike(FaultProxy proxy) {}
  }

  /** What must be one at a time. */
  private static final class Site {
    final String name = freshName();
    final AtomicInteger inside = new AtomicInteger();
    final AtomicLong lastToken = new AtomicLong();
  }

  private final List<Site> sites = Stream.generate(Site::new).limit(NAMES).toList();
  private final AtomicInteger cycles = new AtomicInteger();
  private final AtomicInteger faults = new AtomicInteger();

  @ParameterizedTest
  @EnumSource
  void nobodyGetsTheAnswerOfAnother(Trouble trouble) throws Exception {
    LockOptions options =
        LockOptions.builder()
            .lease(Duration.ofMinutes(1))
            .commandTimeout(Duration.ofSeconds(1))
            .maxHandOffs(0)
            .build();
    try (FaultProxy proxy = FaultProxy.to(redis.server());
        LockClient one = LockClient.create(proxy.uri(), options);
        LockClient other = LockClient.create(proxy.uri(), options)) {
      List<AsyncCall<Boolean>> workers = new ArrayList<>();
      for (int i = 0; i < CLIENTS * THREADS; i++) {
        LockClient client = i % CLIENTS == 0 ? one : other;
        Random random = new Random(i);
        workers.add(AsyncCall.start(() -> work(client, random)));
      }
      for (int next = 200; next < CLIENTS * THREADS * CYCLES; next += 200) {
        int now = next;
        until("so many cycles", () -> cycles.get() >= now || anyIsDone(workers));
        trouble.strike(proxy);
      }
      for (AsyncCall<Boolean> worker : workers) {
        assertTrue(worker.get());
      }
      proxy.restore();
      until("nothing is held or on its way", () -> isAtRest(one) && isAtRest(other));
      for (Site site : sites) {
        until("it is free", () -> !redis.exists(site.name));
      }
      assertTrue(trouble != Trouble.NONE || faults.get() == 0, () -> faults + " faults");
    }
  }

  /** What may have been granted without an answer is released for as long as a lease. */
  private static boolean isAtRest(LockClient client) {
    LockClient.Status status = client.status();
    return status.holds() == 0 && status.contended() == 0 && status.connectionsInUse() == 0;
  }

  private static boolean anyIsDone(List<AsyncCall<Boolean>> workers) {
    return workers.stream().anyMatch(AsyncCall::isDone);
  }

  private boolean work(LockClient client, Random random) throws InterruptedException {
    for (int i = 0; i < CYCLES; i++) {
      Site site = sites.get(random.nextInt(NAMES));
      try (Lease lease =
          new RedisLock(client, site.name).acquire(Duration.ofSeconds(20)).orElseThrow()) {
        assertEquals(1, site.inside.incrementAndGet(), "somebody else is inside");
        long last = site.lastToken.getAndSet(lease.fencingToken());
        assertTrue(last < lease.fencingToken(), "the token is not larger than the last");
        assertEquals(0, site.inside.decrementAndGet());
      } catch (LockException told) { // it is released in the background
        faults.incrementAndGet();
      }
      cycles.incrementAndGet();
    }
    return true;
  }
}
