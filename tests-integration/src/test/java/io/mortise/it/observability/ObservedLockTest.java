package io.mortise.it.observability;

import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.test.simple.SimpleSpan;
import io.micrometer.tracing.test.simple.SimpleTracer;
import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.micrometer.LockWaitContext;
import io.mortise.micrometer.ObservedLock;
import io.mortise.multilock.MultiLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The spans of waits for real locks. */
@Timeout(120)
@Tag("redis-version")
class ObservedLockTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private final String name = Names.fresh();
  private final LockClient client = redis.client();
  private final LockClient other = redis.client();
  private final SimpleTracer tracer = new SimpleTracer();
  private final ObservationRegistry registry = ObservationRegistry.create();
  private final DistributedLock lock = ObservedLock.of(client.lock(name), registry);
  private final DistributedLock held = new RedisLock(other, name);

  ObservedLockTest() {
    registry.observationConfig().observationHandler(new DefaultTracingObservationHandler(tracer));
  }

  @AfterEach
  void close() {
    client.close();
    other.close();
  }

  private List<SimpleSpan> waits() {
    return tracer.getSpans().stream().filter(span -> "lock wait".equals(span.getName())).toList();
  }

  private SimpleSpan onlyWait() {
    assertEquals(1, waits().size(), () -> "" + tracer.getSpans());
    return waits().get(0);
  }

  private SimpleSpan request() {
    return tracer.getSpans().stream()
        .filter(span -> "request".equals(span.getName()))
        .findAny()
        .orElseThrow();
  }

  private Observation start() {
    return Observation.start("request", registry);
  }

  /** As of the lock itself: what asks about the hold for the observation tells nothing. */
  @Test
  void aThreadThatLocksAgainLearnsOfALoss() {
    lock.lock();
    Lease lost = lock.lease();
    held.forceUnlock();
    client.lock(name).forceUnlock();
    until("lost", () -> lost.loss().isPresent() || !lost.isValid());

    assertThrows(LeaseLostException.class, lock::lock);
    assertThrows(LeaseLostException.class, lock::unlock);
    assertTrue(lock.tryLock());
    lock.unlock();
  }

  @Test
  void theWaitIsAChildOfTheObservationOfTheThreadThatAsks() throws Exception {
    Lease first = held.acquire();
    AsyncCall<Void> caller =
        AsyncCall.run(
            () ->
                start()
                    .observeChecked(
                        () -> {
                          lock.lock();
                          lock.unlock();
                        }));
    caller.awaitParked();
    long parkedNanos = System.nanoTime();
    until("it has waited", () -> System.nanoTime() - parkedNanos > 60_000_000);
    first.close();
    caller.get();

    SimpleSpan wait = onlyWait();
    SimpleSpan request = request();
    assertEquals(request.getSpanId(), wait.getParentId());
    assertEquals(request.getTraceId(), wait.getTraceId());
    assertEquals("acquired", wait.getTags().get("outcome"));
    assertEquals(name, wait.getTags().get("mortise.lock.name"));
    Duration waited = Duration.between(wait.getStartTimestamp(), wait.getEndTimestamp());
    assertTrue(waited.toMillis() >= 59, () -> "it waited for " + waited);
    assertTrue(!wait.getEndTimestamp().isAfter(request.getEndTimestamp()));
  }

  @Test
  void theObservationOfTheCallerIsCurrentAgainAfterTheWait() {
    Observation request = start();
    request.observe(
        () -> {
          lock.lock();
          assertSame(request, registry.getCurrentObservation());
          lock.unlock();
        });

    assertNull(registry.getCurrentObservation());
  }

  @Test
  void theWaitIsCurrentWhileItLasts() {
    List<String> steps = new ArrayList<>();
    registry.observationConfig().observationHandler(new Steps(steps));
    lock.lock();
    lock.unlock();

    assertEquals(List.of("start", "current", "not current", "stop"), steps);
  }

  @Test
  void aReEntryIsNotObserved() {
    lock.lock();
    lock.lock();
    assertTrue(lock.tryLock());
    for (int i = 0; i < 3; i++) {
      lock.unlock();
    }

    assertEquals("acquired", onlyWait().getTags().get("outcome"));
  }

  @Test
  void aHandleHasItsToken() throws Exception {
    try (Lease lease = lock.acquire()) {
      assertEquals(
          Long.toString(lease.fencingToken()), onlyWait().getTags().get("mortise.lock.token"));
    }
  }

  @Test
  void eachEndIsNamed() throws Exception {
    held.lock();
    assertFalse(lock.tryLock());
    assertTrue(lock.tryAcquire().isEmpty());
    AsyncCall<Void> interrupted = AsyncCall.run(lock::lockInterruptibly);
    interrupted.awaitParked().interrupt();
    assertThrows(InterruptedException.class, interrupted::get);
    client.close();
    LockException thrown = assertThrows(LockException.class, lock::lock);

    assertEquals(
        List.of("not_acquired", "not_acquired", "interrupted", "error"),
        waits().stream().map(span -> span.getTags().get("outcome")).toList());
    assertSame(thrown, waits().get(3).getError());
  }

  @Test
  void anAsynchronousWaitIsAChildOfItsCallerAndEndsWithItsStage() throws Exception {
    Lease first = held.acquire();
    CompletableFuture<?> granted =
        start().observe(() -> lock.acquireAsync(Duration.ofSeconds(20)).toCompletableFuture());
    CompletableFuture<?> cancelled =
        start().observe(() -> lock.acquireAsync(Duration.ofSeconds(20)).toCompletableFuture());
    assertTrue(cancelled.cancel(false));
    first.close();
    granted.join();

    until(
        "both have ended",
        () ->
            waits().size() == 2
                && waits().stream().allMatch(span -> span.getTags().containsKey("outcome")));
    List<SimpleSpan> requests =
        tracer.getSpans().stream().filter(span -> "request".equals(span.getName())).toList();
    assertEquals(
        requests.stream().map(SimpleSpan::getSpanId).toList(),
        waits().stream().map(SimpleSpan::getParentId).toList());
    assertEquals(
        List.of("acquired", "interrupted"),
        waits().stream().map(span -> span.getTags().get("outcome")).toList());
  }

  @Test
  void anObservedMultiLockIsOneWait() {
    DistributedLock both = ObservedLock.of(new MultiLock(lock, client.lock(name + ":b")), registry);

    both.withLock(() -> assertTrue(client.lock(name).isHeldByCurrentThread()));

    assertEquals(both.name(), onlyWait().getTags().get("mortise.lock.name"));
  }

  @Test
  void itIsTheSameLockAndSoAreItsViews() {
    DistributedLock view = lock.withLease(Duration.ofMinutes(1)).atLeast(Duration.ofMillis(1));
    view.lock();

    assertTrue(lock.isHeldByCurrentThread());
    assertTrue(client.lock(name).isHeldByCurrentThread());
    assertEquals(lock, ObservedLock.of(client.lock(name), registry));
    lock.unlock();
    assertEquals(1, waits().size());
  }

  @Test
  void aHandlerThatThrowsHasNoEffectOnTheLock() {
    ObservationRegistry broken = ObservationRegistry.create();
    broken
        .observationConfig()
        .observationHandler(
            new Throwing(() -> new IllegalStateException("as a handler that is broken")));
    DistributedLock observed = ObservedLock.of(client.lock(name), broken);

    observed.lock();
    assertEquals(1, observed.holdCount());
    observed.unlock();

    assertFalse(held.isLocked());
    assertNull(broken.getCurrentObservation(), "an observation that is left on the thread");
  }

  /** As without memory, where the log of the failure fails too. */
  @Test
  void aFailureOfAHandlerThatCannotBeLoggedHasNoEffectOnTheLock() throws Exception {
    ObservationRegistry broken = ObservationRegistry.create();
    broken.observationConfig().observationHandler(new Throwing(Unprintable::new));
    DistributedLock observed = ObservedLock.of(client.lock(name), broken);

    observed.lock();
    assertEquals(1, observed.holdCount());
    observed.unlock();
    observed.acquire(Duration.ZERO).orElseThrow().close();

    assertFalse(held.isLocked());
    assertNull(broken.getCurrentObservation(), "an observation that is left on the thread");
  }

  private static final class Unprintable extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    @Override
    public String getMessage() {
      throw new IllegalStateException("no memory for the text");
    }
  }

  /** Records what happens to an observation. */
  private static final class Steps implements ObservationHandler<LockWaitContext> {
    private final List<String> steps;

    Steps(List<String> steps) {
      this.steps = steps;
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
      return context instanceof LockWaitContext;
    }

    @Override
    public void onStart(LockWaitContext context) {
      steps.add("start");
    }

    @Override
    public void onScopeOpened(LockWaitContext context) {
      steps.add("current");
    }

    @Override
    public void onScopeClosed(LockWaitContext context) {
      steps.add("not current");
    }

    @Override
    public void onStop(LockWaitContext context) {
      steps.add("stop");
    }
  }

  /** Throws whatever it is asked to do. */
  private static final class Throwing implements ObservationHandler<LockWaitContext> {
    private final Supplier<RuntimeException> failure;

    Throwing(Supplier<RuntimeException> failure) {
      this.failure = failure;
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
      return true;
    }

    @Override
    public void onScopeOpened(LockWaitContext context) {
      throw failure.get();
    }

    @Override
    public void onStop(LockWaitContext context) {
      throw failure.get();
    }
  }
}
