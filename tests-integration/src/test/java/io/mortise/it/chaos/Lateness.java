package io.mortise.it.chaos;

import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockOptions;
import io.mortise.it.chaos.HoldObserver.Holder;
import io.mortise.it.chaos.HoldObserver.Loss;
import io.mortise.it.chaos.HoldObserver.Observations;
import io.mortise.it.chaos.HoldObserver.Pause;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * How late holders were notified that their leases had run out: the time from the deadline to the
 * notification, without the times in which the process did not run.
 *
 * @param sortedNanos one for each loss
 */
record Lateness(List<Long> sortedNanos) {
  /** A holder that is releasing waits for the answer, at most so long, and is notified by it. */
  private static final long COMMAND_TIMEOUT_NANOS =
      LockOptions.defaults().commandTimeout().toNanos();

  /** Returns the lateness of the losses of these holders. */
  static Lateness of(Set<Holder> holders, Observations observations) {
    return new Lateness(
        holders.stream()
            .flatMap(
                holder -> {
                  Loss loss = observations.losses().get(holder);
                  return loss == null || loss.reason() != Reason.EXPIRED
                      ? Stream.of()
                      : Stream.of(
                          nanos(
                              loss,
                              observations.pauses().getOrDefault(holder.process(), List.of())));
                })
            .sorted()
            .toList());
  }

  private static long nanos(Loss loss, List<Pause> pauses) {
    long paused = 0;
    for (Pause pause : pauses) {
      long from = Math.max(pause.fromNanos(), loss.endNanos());
      long to = Math.min(pause.toNanos(), loss.notifiedNanos());
      paused += Math.max(0, to - from);
    }
    long late = loss.notifiedNanos() - loss.endNanos() - paused;
    return loss.byRelease() ? Math.max(0, late - COMMAND_TIMEOUT_NANOS) : late;
  }

  /** Returns the lateness of all of them. */
  static Lateness together(Stream<Lateness> parts) {
    return new Lateness(parts.flatMap(part -> part.sortedNanos.stream()).sorted().toList());
  }

  int losses() {
    return sortedNanos.size();
  }

  /** Returns the lateness in ms that this share of the losses does not exceed; 0 without losses. */
  double percentileMillis(int percent) {
    if (sortedNanos.isEmpty()) {
      return 0;
    }
    int index = Math.min(sortedNanos.size() - 1, sortedNanos.size() * percent / 100);
    return sortedNanos.get(index) / 1e6;
  }

  double maxMillis() {
    return percentileMillis(100);
  }

  /** Returns for example {@code 12: 0.4 / 9.5 / 70.7}: the number; p50, p99 and maximum in ms. */
  @Override
  public String toString() {
    return losses() == 0
        ? "\u2013"
        : "%,d: %.1f / %.1f / %.1f"
            .formatted(losses(), percentileMillis(50), percentileMillis(99), maxMillis());
  }
}
