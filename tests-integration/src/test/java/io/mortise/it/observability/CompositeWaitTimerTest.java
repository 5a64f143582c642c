package io.mortise.it.observability;

import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.micrometer.ObservedLock;
import io.mortise.multilock.MultiLock;
import io.mortise.redlock.RedLock;
import io.mortise.testkit.InMemoryRedis;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The wait for a lock that is made of locks has a timer if it is observed, as docs/observability.md
 * says.
 */
@Timeout(60)
class CompositeWaitTimerTest {
  private final List<InMemoryRedis> servers =
      Stream.generate(InMemoryRedis::start).limit(3).toList();
  private final List<LockClient> clients = servers.stream().map(InMemoryRedis::client).toList();
  private final MeterRegistry meters = new SimpleMeterRegistry();
  private final ObservationRegistry observations = ObservationRegistry.create();

  CompositeWaitTimerTest() {
    observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
  }

  @AfterEach
  void close() {
    servers.forEach(InMemoryRedis::close);
  }

  private long waits(String outcome) {
    return meters.find("mortise.lock.wait").tag("outcome", outcome).timers().stream()
        .mapToLong(Timer::count)
        .sum();
  }

  private static RedLock redLock(List<LockClient> clients) {
    return new RedLock(clients.stream().map(client -> new RedisLock(client, "orders")).toList());
  }

  @Test
  void aRedLockIsTimedAsAWhole() throws Exception {
    DistributedLock lock = ObservedLock.of(redLock(clients), observations);
    lock.acquire().close();
    assertEquals(1, waits("acquired"));
    Lease first = redLock(servers.stream().map(InMemoryRedis::client).toList()).acquire();
    assertFalse(lock.tryLock(Duration.ofMillis(30)));
    assertEquals(1, waits("not_acquired"));

    AsyncCall<Lease> waiter = AsyncCall.start(lock::acquire);
    until("it waits", () -> clients.stream().anyMatch(each -> each.status().waiters() > 0));
    long parkedNanos = System.nanoTime();
    until("it has waited", () -> System.nanoTime() - parkedNanos > 60_000_000);
    first.close();
    waiter.get().close();

    assertEquals(2, waits("acquired"));
    double total =
        meters
            .get("mortise.lock.wait")
            .tag("outcome", "acquired")
            .timer()
            .totalTime(TimeUnit.MILLISECONDS);
    assertTrue(total >= 60, () -> "it waited for " + total + " ms");
  }

  @Test
  void aMultiLockIsTimedOnceAndNotForEachMember() {
    LockClient client = clients.get(0);
    DistributedLock both =
        ObservedLock.of(
            new MultiLock(new RedisLock(client, "a"), new RedisLock(client, "b")), observations);

    both.withLock(() -> assertTrue(both.isHeldByCurrentThread()));

    assertEquals(1, waits("acquired"));
  }
}
