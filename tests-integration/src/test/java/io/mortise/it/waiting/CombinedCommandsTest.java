package io.mortise.it.waiting;

import static io.mortise.it.support.Eventually.until;
import static io.mortise.it.support.SharedRedis.calling;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The commands of many threads are combined, while connections, scripts or replies are lost: each
 * thread gets the reply to its own command.
 */
@Timeout(120)
class CombinedCommandsTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final int CLIENTS = 2;
  private static final int THREADS = 32;
  private static final int NAMES = 48;
  private static final int CYCLES = 100;

  /** A fault that is repeated during the test. */
  private enum RepeatedFault {
    NONE(proxy -> {}),
    CONNECTIONS_BREAK(FaultProxy::closeConnections),
    SCRIPTS_ARE_FORGOTTEN(proxy -> redis.command("SCRIPT", "FLUSH")),
    REPLIES_ARE_LOST(proxy -> proxy.loseNextReply(LossStyle.SILENT, calling("lock/acquire")));

    @SuppressWarnings("ImmutableEnumChecker") // lambdas without state
    final Consumer<FaultProxy> inject;

    RepeatedFault(Consumer<FaultProxy> inject) {
      this.inject = inject;
    }
  }

  /** A section that one thread at a time may enter, and its lock. */
  private static final class CriticalSection {
    final String name = Names.fresh();
    final AtomicInteger inside = new AtomicInteger();
    final AtomicLong lastToken = new AtomicLong();
  }

  private final List<CriticalSection> sections =
      Stream.generate(CriticalSection::new).limit(NAMES).toList();
  private final AtomicInteger cycles = new AtomicInteger();
  private final AtomicInteger failures = new AtomicInteger();

  @ParameterizedTest
  @EnumSource
  void noThreadGetsTheReplyOfAnother(RepeatedFault fault) throws Exception {
    LockOptions options =
        LockOptions.builder()
            .lease(Duration.ofMinutes(1))
            // Without a fault no call may fail, also when the machine stands still for a second.
            .commandTimeout(Duration.ofSeconds(fault == RepeatedFault.NONE ? 10 : 1))
            .tuning(t -> t.maxHandOffs(0))
            .build();
    try (FaultProxy proxy = FaultProxy.to(redis.server());
        LockClient one = LockClient.create(proxy.uri(), options);
        LockClient other = LockClient.create(proxy.uri(), options)) {
      List<AsyncCall<Void>> workers = new ArrayList<>();
      for (int i = 0; i < CLIENTS * THREADS; i++) {
        LockClient client = i % CLIENTS == 0 ? one : other;
        Random random = new Random(i);
        workers.add(AsyncCall.run(() -> work(client, random)));
      }
      for (int next = 200; next < CLIENTS * THREADS * CYCLES; next += 200) {
        int count = next;
        until(count + " cycles", () -> cycles.get() >= count || anyIsDone(workers));
        fault.inject.accept(proxy);
      }
      AsyncCall.join(workers);
      proxy.restore();
      until("nothing is held or being sent", () -> isAtRest(one) && isAtRest(other));
      for (CriticalSection section : sections) {
        until("it is free", () -> !redis.exists(section.name));
      }
      assertTrue(fault != RepeatedFault.NONE || failures.get() == 0, () -> failures + " failures");
    }
  }

  /** Pending releases do not count: an unanswered attempt is released again for a whole lease. */
  private static boolean isAtRest(LockClient client) {
    LockClient.Status status = client.status();
    return status.holds() == 0 && status.contended() == 0 && status.connectionsInUse() == 0;
  }

  private static boolean anyIsDone(List<AsyncCall<Void>> workers) {
    return workers.stream().anyMatch(AsyncCall::isDone);
  }

  private void work(LockClient client, Random random) throws InterruptedException {
    for (int i = 0; i < CYCLES; i++) {
      CriticalSection section = sections.get(random.nextInt(NAMES));
      try (Lease lease =
          new RedisLock(client, section.name).acquire(Duration.ofSeconds(20)).orElseThrow()) {
        assertEquals(1, section.inside.incrementAndGet(), "another thread is inside");
        long last = section.lastToken.getAndSet(lease.fencingToken());
        assertTrue(last < lease.fencingToken(), "the token is not larger than the last");
        assertEquals(0, section.inside.decrementAndGet());
      } catch (LockException noReply) { // the hold is released in the background
        failures.incrementAndGet();
      }
      cycles.incrementAndGet();
    }
  }
}
