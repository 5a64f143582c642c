package io.mortise.it.lateness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Pauses;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Holds that are lost: when each listener was notified, and when a rival had the lock. A process
 * that does not run cannot notify in time, so its pauses do not count.
 */
final class Losses implements AutoCloseable {
  private static final Duration RIVAL_WAIT = Duration.ofMinutes(2);

  /** The events of one hold; times of {@link System#nanoTime()}. */
  private record Watched(
      ExpiringLock kind,
      Lease lease,
      CompletableFuture<Long> notifiedNanos,
      CompletableFuture<Long> endNanos,
      CompletableFuture<Long> rivalNanos) {}

  private final List<Watched> all = new ArrayList<>();
  private final Pauses pauses = Pauses.record();

  /** Watches a hold, and has a rival wait for the lock. */
  void watch(ExpiringLock kind, Lease lease, DistributedLock rival) {
    Watched watched =
        new Watched(
            kind,
            lease,
            new CompletableFuture<>(),
            new CompletableFuture<>(),
            new CompletableFuture<>());
    all.add(watched);
    lease.onLost(
        loss -> {
          watched.notifiedNanos.complete(System.nanoTime());
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

  /** Waits for all losses; prints how late the listeners were notified, and checks it. */
  void check(String title, Duration liveness) throws Exception {
    Map<ExpiringLock, List<Long>> late = new EnumMap<>(ExpiringLock.class);
    List<String> afterRival = new ArrayList<>();
    long deadlineNanos = System.nanoTime() + liveness.toNanos();
    for (Watched watched : all) {
      long notified = within(watched.notifiedNanos, deadlineNanos);
      long rival = within(watched.rivalNanos, deadlineNanos);
      long end = watched.endNanos.get();
      long running = notified - pauses.nanosWithin(end, notified);
      late.computeIfAbsent(watched.kind, kind -> new ArrayList<>()).add(running - end);
      long overlap = running - rival;
      if (overlap >= 0) {
        afterRival.add(
            "%s: %d us".formatted(watched.lease, TimeUnit.NANOSECONDS.toMicros(overlap)));
      }
    }
    List<Long> sorted = late.values().stream().flatMap(List::stream).sorted().toList();
    late.forEach((kind, nanos) -> System.out.println(line(title + ", " + kind, nanos)));
    System.out.println(line(title, sorted));
    assertEquals(List.of(), afterRival, "notified after a rival had the lock");
    long p99 = percentile(sorted, 99);
    assertTrue(p99 < Duration.ofMillis(250).toNanos(), "p99 " + p99 / 1_000 + " us");
    Eventually.until("all are lost", () -> all.stream().noneMatch(hold -> hold.lease.isValid()));
  }

  @Override
  public void close() {
    pauses.close();
  }

  private static long within(CompletableFuture<Long> nanos, long deadlineNanos) throws Exception {
    return nanos.get(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
  }

  private static String line(String title, List<Long> nanos) {
    List<Long> sorted = nanos.stream().sorted().toList();
    return "lateness of %s: %d losses, p50 %d us, p99 %d us, max %d us"
        .formatted(
            title,
            sorted.size(),
            percentile(sorted, 50) / 1_000,
            percentile(sorted, 99) / 1_000,
            percentile(sorted, 100) / 1_000);
  }

  private static long percentile(List<Long> sorted, int percent) {
    return sorted.get(Math.min(sorted.size() - 1, sorted.size() * percent / 100));
  }
}
