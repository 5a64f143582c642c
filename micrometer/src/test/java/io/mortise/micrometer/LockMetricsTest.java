package io.mortise.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LockClient;
import io.mortise.core.LockEvent;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What each event does to the meters. */
@Timeout(60)
class LockMetricsTest {
  private final MeterRegistry registry = new SimpleMeterRegistry();

  private static LockEvent.Builder event(LockEvent.Type type) {
    return LockEvent.builder(type, "client", Instant.EPOCH).lock("lock", "orders:42");
  }

  private static LockEvent ended(LockEvent.Type type, Throwable cause) {
    return event(type).duration(Duration.ofMillis(5)).cause(cause).build();
  }

  private LockMetrics bound(LockMetrics metrics) {
    metrics.bindTo(registry);
    return metrics;
  }

  private List<String> names() {
    return registry.getMeters().stream()
        .map(meter -> meter.getId().getName())
        .distinct()
        .sorted()
        .toList();
  }

  @Test
  void allMetersOfAKindAreThereFromItsFirstRequest() {
    bound(LockMetrics.create()).onEvent(event(LockEvent.Type.REQUESTED).build());

    for (LeaseLoss.Reason reason : LeaseLoss.Reason.values()) {
      assertEquals(
          0,
          registry
              .get("mortise.lock.losses")
              .tags("kind", "lock", "reason", reason.name().toLowerCase(Locale.ROOT))
              .counter()
              .count());
    }
    assertEquals(4, registry.get("mortise.lock.acquire").timers().size());
    assertEquals(2, registry.get("mortise.lock.hold").timers().size());
    assertEquals(0, registry.get("mortise.lock.handoffs").counter().count());
    assertEquals(0, registry.get("mortise.lock.renewal.late").timer().count());
  }

  @Test
  void eachOutcomeHasATimer() {
    LockMetrics metrics = bound(LockMetrics.create());
    metrics.onEvent(ended(LockEvent.Type.ACQUIRED, null));
    metrics.onEvent(ended(LockEvent.Type.NOT_ACQUIRED, null));
    metrics.onEvent(ended(LockEvent.Type.NOT_ACQUIRED, new InterruptedException()));
    metrics.onEvent(ended(LockEvent.Type.NOT_ACQUIRED, new IllegalStateException()));

    for (String outcome : List.of("acquired", "not_acquired", "interrupted", "error")) {
      assertEquals(
          5,
          registry
              .get("mortise.lock.acquire")
              .tag("outcome", outcome)
              .timer()
              .totalTime(TimeUnit.MILLISECONDS),
          outcome);
    }
  }

  @Test
  void holdsLossesHandOffsAndLateRenewalsAreCounted() {
    LockMetrics metrics = bound(LockMetrics.create());
    metrics.onEvent(ended(LockEvent.Type.RELEASED, null));
    metrics.onEvent(ended(LockEvent.Type.HANDED_OFF, null));
    metrics.onEvent(ended(LockEvent.Type.RENEWED_LATE, null));
    metrics.onEvent(
        event(LockEvent.Type.LOST)
            .duration(Duration.ofMillis(7))
            .loss(new LeaseLoss("orders:42", 1, LeaseLoss.Reason.MISSING, 0, "gone"))
            .build());
    metrics.onEvent(
        LockEvent.builder(LockEvent.Type.UNREACHABLE, "client", Instant.EPOCH)
            .server("redis:6379")
            .build());

    assertEquals(1, registry.get("mortise.lock.hold").tag("outcome", "released").timer().count());
    assertEquals(
        7,
        registry
            .get("mortise.lock.hold")
            .tag("outcome", "lost")
            .timer()
            .totalTime(TimeUnit.MILLISECONDS));
    assertEquals(1, registry.get("mortise.lock.handoffs").counter().count());
    assertEquals(
        5, registry.get("mortise.lock.renewal.late").timer().totalTime(TimeUnit.MILLISECONDS));
    assertEquals(1, registry.get("mortise.lock.losses").tag("reason", "missing").counter().count());
    assertEquals(0, registry.get("mortise.lock.losses").tag("reason", "expired").counter().count());
    assertEquals(1, registry.get("mortise.server.outages").counter().count());
  }

  @Test
  void theNameOfALockIsATagOnlyByTheFunctionOfTheUser() {
    bound(LockMetrics.create()).onEvent(ended(LockEvent.Type.ACQUIRED, null));
    assertTrue(
        registry.getMeters().stream()
            .flatMap(meter -> meter.getId().getTags().stream())
            .noneMatch(tag -> tag.getValue().contains("orders")));

    LockMetrics byPrefix =
        LockMetrics.builder()
            .tags(Tags.of("shard", "a"))
            .lockTag(name -> name.startsWith("orders:") ? "orders" : " ")
            .build();
    bound(byPrefix).onEvent(ended(LockEvent.Type.ACQUIRED, null));
    byPrefix.onEvent(
        LockEvent.builder(LockEvent.Type.ACQUIRED, "client", Instant.EPOCH)
            .lock("lock", "other")
            .duration(Duration.ZERO)
            .build());

    assertEquals(
        new TreeSet<>(List.of("none", "orders")),
        registry.find("mortise.lock.acquire").tag("shard", "a").meters().stream()
            .map(meter -> meter.getId().getTag("lock"))
            .collect(Collectors.toCollection(TreeSet::new)));
  }

  @Test
  void theNumberOfMetersDoesNotGrowWithTheNumberOfLocks() {
    LockMetrics metrics = bound(LockMetrics.create());
    metrics.onEvent(event(LockEvent.Type.REQUESTED).build());
    int before = registry.getMeters().size();
    for (int i = 0; i < 1_000; i++) {
      metrics.onEvent(
          LockEvent.builder(LockEvent.Type.ACQUIRED, "client", Instant.EPOCH)
              .lock("lock", "orders:" + i)
              .duration(Duration.ofMillis(1))
              .build());
    }

    assertEquals(before, registry.getMeters().size());
    assertEquals(
        1_000, registry.get("mortise.lock.acquire").tag("outcome", "acquired").timer().count());
  }

  @Test
  void everyMeterHasADescriptionAndAUnit() {
    bound(LockMetrics.create()).onEvent(event(LockEvent.Type.REQUESTED).build());

    assertFalse(registry.getMeters().isEmpty());
    for (Meter meter : registry.getMeters()) {
      assertTrue(meter.getId().getDescription() != null, () -> meter.getId().toString());
      assertTrue(meter.getId().getBaseUnit() != null, () -> meter.getId().toString());
    }
  }

  @Test
  void twoRegistriesHaveTheSameMeters() {
    MeterRegistry second = new SimpleMeterRegistry();
    LockMetrics metrics = bound(LockMetrics.create());
    metrics.bindTo(second);
    metrics.bindTo(second);
    metrics.onEvent(ended(LockEvent.Type.RELEASED, null));

    assertEquals(registry.getMeters().size(), second.getMeters().size());
    assertEquals(1, second.get("mortise.lock.hold").tag("outcome", "released").timer().count());
  }

  /** The application has a meter of that name and of another type. */
  @Test
  void aRegistryThatRefusesAMeterKeepsNoEventFromTheOthers() {
    LockMetrics metrics = bound(LockMetrics.create());
    registry.gauge("mortise.lock.handoffs", Tags.of("kind", "lock"), 1);
    List<MeterRegistry> others =
        Stream.<MeterRegistry>generate(SimpleMeterRegistry::new).limit(20).toList();
    others.forEach(metrics::bindTo);

    assertThrows(
        IllegalArgumentException.class,
        () -> metrics.onEvent(ended(LockEvent.Type.RELEASED, null)));

    for (MeterRegistry other : others) {
      assertEquals(1, other.get("mortise.lock.hold").tag("outcome", "released").timer().count());
    }
  }

  @Test
  void theFirstRefusalIsThrownAndTheOthersAreSuppressed() {
    LockMetrics metrics = bound(LockMetrics.create());
    MeterRegistry second = new SimpleMeterRegistry();
    metrics.bindTo(second);
    for (MeterRegistry each : List.of(registry, second)) {
      each.gauge("mortise.lock.handoffs", Tags.of("kind", "lock"), 1);
    }

    var thrown =
        assertThrows(
            IllegalArgumentException.class,
            () -> metrics.onEvent(ended(LockEvent.Type.RELEASED, null)));

    assertEquals(1, thrown.getSuppressed().length);
  }

  @Test
  void twoWithTheSameTagsShareTheirMetersUntilBothAreClosed() {
    LockMetrics first = bound(LockMetrics.create());
    LockMetrics second = bound(LockMetrics.create());
    LockMetrics third = bound(LockMetrics.builder().tags(Tags.of("shard", "a")).build());
    first.onEvent(ended(LockEvent.Type.RELEASED, null));
    third.onEvent(ended(LockEvent.Type.RELEASED, null));
    int meters = registry.getMeters().size();

    first.close();
    first.close();
    first.onEvent(ended(LockEvent.Type.RELEASED, null));
    second.onEvent(ended(LockEvent.Type.RELEASED, null));

    assertEquals(meters, registry.getMeters().size());
    assertEquals(2, releases(Tags.empty()));
    third.close();
    assertEquals(2, releases(Tags.empty()));
    second.close();
    assertEquals(List.of(), names());
    bound(LockMetrics.create()).onEvent(ended(LockEvent.Type.RELEASED, null));
    assertEquals(1, releases(Tags.empty()));
  }

  private long releases(Tags tags) {
    return registry.get("mortise.lock.hold").tags(tags).tag("outcome", "released").timer().count();
  }

  /** The gauges of the first would be those of the second, and show no number for ever. */
  @Test
  void oneThatIsDroppedWithoutACloseLeavesItsMetersToTheNext() {
    WeakReference<LockMetrics> dropped = new WeakReference<>(bound(LockMetrics.create()));
    while (!dropped.refersTo(null)) {
      System.gc();
    }
    assertEquals(0, registry.get("mortise.dropped.events").functionCounter().count());

    try (LockMetrics next = bound(LockMetrics.create());
        LockClient client = next.watch(LockClient.create("redis://localhost:1"))) {
      assertFalse(client.isClosed());
      next.onEvent(ended(LockEvent.Type.RELEASED, null));
      assertEquals(0, registry.get("mortise.lock.holds").gauge().value());
      assertEquals(1, releases(Tags.empty()));
    }
    assertEquals(List.of(), names());
  }

  @Test
  void aRegistryThatRefusesAMeterOfTheClientsHasNone() {
    registry.counter("mortise.lock.waiters");

    assertThrows(IllegalArgumentException.class, () -> bound(LockMetrics.create()));

    assertEquals(List.of("mortise.lock.waiters"), names());
  }

  /** Those before the refused one would stay at zero, whatever happens. */
  @Test
  void aRegistryThatRefusesAMeterOfAKindHasNoneOfThatKind() {
    LockMetrics metrics = bound(LockMetrics.create());
    List<String> before = names();
    registry.gauge("mortise.lock.losses", Tags.of("kind", "lock", "reason", "missing"), 1);

    assertThrows(
        IllegalArgumentException.class,
        () -> metrics.onEvent(ended(LockEvent.Type.RELEASED, null)));

    List<String> withThatOfTheApplication =
        Stream.concat(before.stream(), Stream.of("mortise.lock.losses")).sorted().toList();
    assertEquals(withThatOfTheApplication, names());
    assertEquals(1, registry.get("mortise.lock.losses").meters().size());
  }

  @Test
  void closingRemovesEveryMeterAndNoEventBringsOneBack() {
    registry.counter("of.the.application");
    LockMetrics metrics = bound(LockMetrics.builder().tags(List.of(Tag.of("a", "b"))).build());
    metrics.onEvent(ended(LockEvent.Type.RELEASED, null));
    metrics.close();
    metrics.onEvent(event(LockEvent.Type.REQUESTED).build());

    assertEquals(List.of("of.the.application"), names());
  }

  /** Another thread binds the registry again before the first of its meters has been removed. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aRegistryThatIsBoundAmidACloseCanBeBoundAgain(boolean bySame) throws Exception {
    LockMetrics metrics = LockMetrics.create();
    LockMetrics next = bySame ? metrics : LockMetrics.create();
    var closing =
        new SimpleMeterRegistry() {
          private final Thread binding = new Thread(() -> next.bindTo(this), "binding");

          @Override
          public Meter remove(Meter meter) {
            if (binding.getState() == Thread.State.NEW) {
              binding.start();
              while (binding.isAlive() && !waits(binding)) {
                Thread.onSpinWait();
              }
            }
            return super.remove(meter);
          }
        };
    metrics.bindTo(closing);
    int meters = closing.getMeters().size();

    metrics.close();
    closing.binding.join();
    next.bindTo(closing);

    assertEquals(meters, closing.getMeters().size());
  }

  private static boolean waits(Thread thread) {
    Thread.State state = thread.getState();
    return state == Thread.State.BLOCKED || state == Thread.State.WAITING;
  }
}
