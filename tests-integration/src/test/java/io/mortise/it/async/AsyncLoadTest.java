package io.mortise.it.async;

import static io.mortise.it.support.Eventually.until;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Hundreds of asynchronous waits at once, completed and cancelled in every state. */
@Timeout(60)
class AsyncLoadTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final int NAMES = 20;
  private static final int WAITS = 400;
  private static final Duration LONG = Duration.ofSeconds(50);

  private final LockOptions options =
      LockOptions.builder().tuning(t -> t.subscriptionLinger(Duration.ofMillis(100))).build();
  private final LockClient client = LockClient.create(redis.uri(), options);
  private final LockClient other = LockClient.create(redis.uri(), options);

  @AfterEach
  void nothingLeaks() {
    ClientResources.awaitNone(client);
    ClientResources.awaitNone(other);
    client.close();
    other.close();
    until("its threads have ended", () -> ClientResources.threads(client).isEmpty());
  }

  @Test
  void everyWaitIsGrantedAndNoTwoHoldsOverlap() throws Exception {
    List<String> names = names();
    List<AtomicInteger> inside = Stream.generate(AtomicInteger::new).limit(NAMES).toList();
    AtomicInteger overlaps = new AtomicInteger();
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int i = 0; i < WAITS; i++) {
      int which = i % NAMES;
      LockClient one = i / NAMES % 2 == 0 ? client : other;
      all.add(
          waitFor(one, names.get(which))
              .thenAccept(
                  held -> {
                    try (Lease lease = held.orElseThrow()) {
                      overlaps.addAndGet(inside.get(which).getAndIncrement());
                      lease.ensureValid();
                      inside.get(which).decrementAndGet();
                    }
                  }));
    }
    for (CompletableFuture<Void> each : all) {
      each.get(LONG.toMillis(), TimeUnit.MILLISECONDS);
    }
    assertEquals(0, overlaps.get());
    assertAllFree(names);
  }

  @Test
  void cancelledWaitsForAHeldLockLeaveNothing() throws Exception {
    String name = Names.fresh();
    Lease held = new RedisLock(other, name).tryAcquire().orElseThrow();
    List<CompletableFuture<Optional<Lease>>> waits = new ArrayList<>();
    for (int i = 0; i < WAITS; i++) {
      waits.add(waitFor(client, name));
    }
    until("one is subscribed", () -> client.status().channels() == 1);
    waits.forEach(each -> assertTrue(each.cancel(true)));
    until("none waits", () -> client.status().contended() == 0);
    held.close();
    assertAllFree(List.of(name));
  }

  /** Some have the lock, some are being granted it, some are queued, some have not started. */
  @RepeatedTest(5)
  void cancellationsDuringHandOffsLeaveNoLockHeld() {
    List<String> names = names();
    List<CompletableFuture<Optional<Lease>>> waits = new ArrayList<>();
    AtomicInteger granted = new AtomicInteger();
    for (int i = 0; i < WAITS; i++) {
      CompletableFuture<Optional<Lease>> wait =
          waitFor(i % 3 == 0 ? other : client, names.get(i % NAMES));
      var unused =
          wait.thenAccept(
              lease -> {
                granted.incrementAndGet();
                lease.ifPresent(Lease::close);
              });
      waits.add(wait);
    }
    until("some are granted", () -> granted.get() >= NAMES);
    long cancelled = waits.stream().filter(each -> each.cancel(true)).count();
    until("all have ended", () -> granted.get() + cancelled == WAITS);
    assertAllFree(names);
  }

  private static CompletableFuture<Optional<Lease>> waitFor(LockClient client, String name) {
    return new RedisLock(client, name).acquireAsync(LONG).toCompletableFuture();
  }

  private static List<String> names() {
    return Stream.generate(Names::fresh).limit(NAMES).toList();
  }

  /** Free at once, not when a lease of 30 s has run out. */
  private void assertAllFree(List<String> names) {
    for (String name : names) {
      DistributedLock lock = new RedisLock(client, name);
      await(name)
          .pollDelay(Duration.ZERO)
          .atMost(Duration.ofSeconds(20))
          .until(() -> !lock.isLocked());
    }
  }
}
