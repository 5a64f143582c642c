package io.mortise.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LockEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The meters of the locks of one kind, and of one value of the user's tag, in one registry. All are
 * registered at once, or none: a counter that first appears with the value 1 would hide the first
 * loss from every rate, and one that nobody counts would stay at zero.
 *
 * <p><b>Threads.</b> Any thread may call any method; meters are safe for use by several threads.
 */
final class LockMeters implements AutoCloseable {
  private final MeterRegistry registry;
  private final Tags tags;
  private final List<Meter> all = new ArrayList<>();
  private final Map<AcquireOutcome, Timer> acquisitions = new TreeMap<>();
  private final Timer releasedHolds;
  private final Timer lostHolds;
  private final Timer lateRenewals;
  private final Counter handOffs;
  private final Map<LeaseLoss.Reason, Counter> losses = new TreeMap<>();

  LockMeters(MeterRegistry registry, Tags tags) {
    this.registry = registry;
    this.tags = tags;
    try {
      for (AcquireOutcome outcome : AcquireOutcome.values()) {
        acquisitions.put(
            outcome,
            timer(
                "mortise.lock.acquire",
                "From the request of a lock to its grant, or to the end without it",
                Tags.of("outcome", outcome.value())));
      }
      releasedHolds = hold("released");
      lostHolds = hold("lost");
      lateRenewals =
          timer("mortise.lock.renewal.late", "How late renewals were confirmed", Tags.empty());
      handOffs =
          counter(
              "mortise.lock.handoffs",
              "handoffs",
              "Hand-offs of a lock between threads of a client, without a command",
              Tags.empty());
      for (LeaseLoss.Reason reason : LeaseLoss.Reason.values()) {
        losses.put(
            reason,
            counter(
                "mortise.lock.losses",
                "losses",
                "Holds that were lost",
                Tags.of("reason", reason.name().toLowerCase(Locale.ROOT))));
      }
    } catch (RuntimeException | Error e) { // the registry has another meter of one of these names
      close();
      throw e;
    }
  }

  private Timer hold(String outcome) {
    return timer(
        "mortise.lock.hold",
        "From the grant of a lock to its release or loss",
        Tags.of("outcome", outcome));
  }

  private Timer timer(String name, String description, Tags more) {
    Timer timer =
        Timer.builder(name).description(description).tags(tags.and(more)).register(registry);
    all.add(timer);
    return timer;
  }

  private Counter counter(String name, String unit, String description, Tags more) {
    Counter counter =
        Counter.builder(name)
            .description(description)
            .baseUnit(unit)
            .tags(tags.and(more))
            .register(registry);
    all.add(counter);
    return counter;
  }

  void record(LockEvent event) {
    switch (event.type()) {
      case ACQUIRED -> record(AcquireOutcome.ACQUIRED, event);
      case NOT_ACQUIRED ->
          record(event.cause().map(AcquireOutcome::of).orElse(AcquireOutcome.NOT_ACQUIRED), event);
      case RENEWED_LATE -> event.duration().ifPresent(lateRenewals::record);
      case HANDED_OFF -> handOffs.increment();
      case RELEASED -> event.duration().ifPresent(releasedHolds::record);
      case LOST -> {
        event.duration().ifPresent(lostHolds::record);
        event.loss().map(loss -> losses.get(loss.reason())).ifPresent(Counter::increment);
      }
      default -> {} // REQUESTED, of which the acquisition reports the end
    }
  }

  private void record(AcquireOutcome outcome, LockEvent event) {
    Timer timer = acquisitions.get(outcome);
    if (timer != null) {
      event.duration().ifPresent(timer::record);
    }
  }

  /** Removes the meters from the registry. */
  @Override
  public void close() {
    all.forEach(registry::remove);
  }
}
