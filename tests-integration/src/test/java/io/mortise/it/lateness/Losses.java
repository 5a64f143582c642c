package io.mortise.it.lateness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.it.support.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Holds that will be lost: when each listener was called, and when a rival had the lock. */
final class Losses {
  private static final Duration RIVAL_WAIT = Duration.ofMinutes(2);

  /** What came of one hold; nanos of {@link System#nanoTime()}. */
  private record Watched(
      Families family,
      Lease lease,
      CompletableFuture<Long> toldNanos,
      CompletableFuture<Long> endNanos,
      CompletableFuture<Long> rivalNanos) {}

  private final List<Watched> all = new ArrayList<>();

  /** Watches a hold, and has a rival wait for the lock. */
  void watch(Families family, Lease lease, DistributedLock rival) {
    Watched watched =
        new Watched(
            family,
            lease,
            new CompletableFuture<>(),
            new CompletableFuture<>(),
            new CompletableFuture<>());
    all.add(watched);
    lease.onLost(
        loss -> {
          watched.toldNanos.complete(System.nanoTime());
          watched.endNanos.complete(loss.atNanos());
        });
    var unused =
        rival
            .acquireAsync(RIVAL_WAIT)
            .whenComplete(
                (granted, failure) -> {
                  long now = System.nanoTime();
                  if (failure != null) {
                    watched.rivalNanos.completeExceptionally(failure);
                  } else {
                    watched.rivalNanos.complete(now);
                    granted.ifPresent(Lease::close);
                  }
                });
  }

  /** Waits for all of it; prints how late the listeners were called, and checks it. */
  void check(String what, Duration liveness) throws Exception {
    Map<Families, List<Long>> late = new EnumMap<>(Families.class);
    List<String> afterRival = new ArrayList<>();
    long deadlineNanos = System.nanoTime() + liveness.toNanos();
    for (Watched watched : all) {
      long told = within(watched.toldNanos, deadlineNanos);
      long rival = within(watched.rivalNanos, deadlineNanos);
      late.computeIfAbsent(watched.family, family -> new ArrayList<>())
          .add(told - watched.endNanos.get());
      if (told - rival >= 0) {
        afterRival.add(
            "%s: %d us".formatted(watched.lease, TimeUnit.NANOSECONDS.toMicros(told - rival)));
      }
    }
    List<Long> every = late.values().stream().flatMap(List::stream).sorted().toList();
    late.forEach((family, nanos) -> System.out.println(line(what + ", " + family, nanos)));
    System.out.println(line(what, every));
    assertEquals(List.of(), afterRival, "called after a rival had the lock");
    long p99 = percentile(every, 99);
    assertTrue(p99 < Duration.ofMillis(250).toNanos(), "p99 " + p99 / 1_000 + " us");
    Eventually.until("all are lost", () -> all.stream().noneMatch(hold -> hold.lease.isValid()));
  }

  private static long within(CompletableFuture<Long> nanos, long deadlineNanos) throws Exception {
    return nanos.get(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
  }

  private static String line(String what, List<Long> nanos) {
    List<Long> sorted = nanos.stream().sorted().toList();
    return "lateness of %s: %d losses, p50 %d us, p99 %d us, max %d us"
        .formatted(
            what,
            sorted.size(),
            percentile(sorted, 50) / 1_000,
            percentile(sorted, 99) / 1_000,
            percentile(sorted, 100) / 1_000);
  }

  private static long percentile(List<Long> sorted, int percent) {
    return sorted.get(Math.min(sorted.size() - 1, sorted.size() * percent / 100));
  }
}
