package io.mortise.it.observability;

import static io.mortise.it.support.Eventually.untilAsserted;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.Streams;
import io.micrometer.core.instrument.Measurement;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Statistic;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.micrometer.LockMetrics;
import io.mortise.testkit.FaultProxy;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The meters of real locks. */
@Timeout(120)
@Tag("redis-version")
class LockMetricsOnRedisTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private final String name = Names.fresh();
  private final MeterRegistry registry = new SimpleMeterRegistry();
  private final LockMetrics metrics = LockMetrics.create();
  private final FaultProxy proxy = FaultProxy.to(redis.server());
  private final CountDownLatch blocked = new CountDownLatch(1);
  private final LockOptions options =
      LockOptions.builder().listener(metrics).commandTimeout(Duration.ofSeconds(5)).build();
  private final LockClient client = metrics.watch(LockClient.create(proxy.uri(), options));
  private final LockClient other = redis.client();
  private final RedisLock lock = new RedisLock(client, name);

  LockMetricsOnRedisTest() {
    metrics.bindTo(registry);
  }

  @AfterEach
  void close() {
    blocked.countDown();
    client.close();
    other.close();
    proxy.close();
  }

  private double gauge(String meter) {
    return registry.get(meter).gauge().value();
  }

  /** Returns the count of a counter or a timer; 0 before the first event makes it. */
  private double count(String meter, String... tags) {
    return registry.find(meter).tags(tags).meters().stream()
        .flatMap(found -> Streams.stream(found.measure()))
        .filter(measured -> measured.getStatistic() == Statistic.COUNT)
        .mapToDouble(Measurement::getValue)
        .sum();
  }

  private Timer acquired() {
    return registry.get("mortise.lock.acquire").tag("outcome", "acquired").timer();
  }

  @Test
  void aWaitAndAHoldAreTimed() throws Exception {
    Lease first = new RedisLock(other, name).acquire();
    AsyncCall<Void> waiter = AsyncCall.cycle(lock).awaitParked();
    untilAsserted("it waits", () -> assertEquals(1, gauge("mortise.lock.waiters")));
    long parkedNanos = System.nanoTime();
    untilAsserted("it has waited", () -> assertTrue(System.nanoTime() - parkedNanos > 60_000_000));
    first.close();
    waiter.get();

    untilAsserted(
        "the wait is timed",
        () -> assertEquals(1, count("mortise.lock.acquire", "outcome", "acquired")));
    assertTrue(acquired().totalTime(TimeUnit.MILLISECONDS) >= 60);
    untilAsserted("nobody waits", () -> assertEquals(0, gauge("mortise.lock.waiters")));
  }

  @Test
  void threadsThatWaitInTheProcessAndForRedisAreWaiters() throws Exception {
    Lease first = new RedisLock(other, name).acquire();
    AsyncCall<Void> parked = AsyncCall.cycle(lock).awaitParked();
    AsyncCall<Void> queued = AsyncCall.cycle(lock).awaitQueued();

    untilAsserted("both wait", () -> assertEquals(2, gauge("mortise.lock.waiters")));
    assertEquals(0, gauge("mortise.lock.holds"));
    first.close();
    parked.get();
    queued.get();
    assertEquals(0, gauge("mortise.lock.waiters"));
    lock.lock();
    assertEquals(1, gauge("mortise.lock.holds"));
    lock.unlock();
  }

  @Test
  void theGaugesOfTwoWithTheSameTagsAreAddedUp() {
    LockMetrics second = LockMetrics.create();
    second.bindTo(registry);
    second.watch(other);
    lock.lock();
    try (Lease held = new RedisLock(other, name + ":2").tryAcquire().orElseThrow()) {
      assertTrue(held.isValid());
      assertEquals(2, gauge("mortise.lock.holds"));

      metrics.close();

      assertEquals(1, gauge("mortise.lock.holds"));
      assertEquals(0, count("mortise.dropped.events"));
    } finally {
      lock.unlock();
    }
    second.close();
    assertEquals(List.of(), registry.getMeters());
  }

  @Test
  void aLossIsCountedByItsReason() {
    lock.lock();
    assertTrue(new RedisLock(other, name).forceUnlock());
    assertThrows(LeaseLostException.class, lock::unlock);

    untilAsserted(
        "the loss is counted",
        () -> assertEquals(1, count("mortise.lock.losses", "reason", "forced")));
    untilAsserted(
        "the hold is timed", () -> assertEquals(1, count("mortise.lock.hold", "outcome", "lost")));
  }

  @Test
  void aServerThatIsAwayIsSeenUntilItIsBack() {
    lock.lock();
    lock.unlock();
    assertEquals(0, gauge("mortise.unreachable.servers"));
    proxy.cut();
    assertThrows(LockException.class, lock::tryLock);

    assertEquals(1, gauge("mortise.unreachable.servers"));
    untilAsserted("the outage is counted", () -> assertEquals(1, count("mortise.server.outages")));
    untilAsserted(
        "the error is timed",
        () -> assertEquals(1, count("mortise.lock.acquire", "outcome", "error")));
    proxy.restore();
    lock.lock();
    lock.unlock();
    assertEquals(0, gauge("mortise.unreachable.servers"));
  }

  /** Returns a client whose listener is blocked, so that it has dropped events. */
  private LockClient overloaded(LockMetrics watching) {
    LockOptions slow =
        LockOptions.builder()
            .listener(
                event -> {
                  try {
                    blocked.await();
                  } catch (InterruptedException closing) {
                    Thread.currentThread().interrupt();
                  }
                })
            .build();
    LockClient busy = watching.watch(LockClient.create(redis.uri(), slow));
    RedisLock often = new RedisLock(busy, name);
    for (int i = 0; i < 2_900; i++) {
      often.lock();
      often.unlock();
    }
    return busy;
  }

  private double droppedEvents() {
    return registry.get("mortise.dropped.events").functionCounter().count();
  }

  /** The gauges are right although the listener was never notified of most events. */
  @Test
  void droppedEventsAreCountedAndLeaveTheGaugesRight() {
    try (LockClient busy = overloaded(metrics)) {
      new RedisLock(busy, name).lock();

      double dropped = droppedEvents();
      assertEquals((double) busy.status().droppedEvents(), dropped);
      assertTrue(dropped > 0, "events were dropped");
      assertEquals(1, gauge("mortise.lock.holds"));
      assertEquals(0, gauge("mortise.lock.waiters"));
      blocked.countDown();
    }
    assertEquals(0, gauge("mortise.lock.holds"), "of a client that is closed");
    assertTrue(droppedEvents() > 0);
  }

  /** It counts as closed from the beginning of its close, and drops the rest of its queue later. */
  @Test
  void whatAClientDropsWhileItClosesIsCounted() throws Exception {
    LockClient busy = overloaded(metrics);
    Thread closing = new Thread(busy::close, "closing");
    closing.start();
    untilAsserted("it closes", () -> assertTrue(busy.isClosed()));
    double dropped = droppedEvents();
    closing.join();

    assertTrue(busy.status().droppedEvents() > dropped, "events were dropped at the end");
    assertEquals((double) busy.status().droppedEvents(), droppedEvents());
  }

  @Test
  void droppedEventsCountOnceWhenOneOfTwoIsBoundAgainAndStayWhenItIsDropped() {
    WeakReference<LockMetrics> second = new WeakReference<>(closedAndBoundAgain());
    double dropped = droppedEvents();

    while (!second.refersTo(null)) {
      System.gc();
    }

    assertEquals(dropped, droppedEvents());
    LockMetrics third = LockMetrics.create();
    third.bindTo(registry);
    assertEquals(dropped, droppedEvents());
    third.close();
    assertEquals(dropped, droppedEvents());
  }

  /** Returns metrics with dropped events, which share their meters, and whose client is closed. */
  private LockMetrics closedAndBoundAgain() {
    LockMetrics second = LockMetrics.create();
    second.bindTo(registry);
    LockClient busy = overloaded(second);
    double dropped = droppedEvents();
    assertTrue(dropped > 0, "events were dropped");
    second.close();
    assertEquals(dropped, droppedEvents());

    second.bindTo(registry);

    assertEquals(dropped, droppedEvents());
    blocked.countDown();
    busy.close();
    return second;
  }
}
