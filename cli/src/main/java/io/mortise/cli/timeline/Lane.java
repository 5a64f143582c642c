package io.mortise.cli.timeline;

import java.util.List;

/**
 * A row below those of the threads, for something that is not a thread: an account, a server.
 *
 * @param holds who had it when
 * @param outages when it was not there
 */
public record Lane(String name, List<Hold> holds, List<Outage> outages) {

  /** Keeps copies of the lists. */
  public Lane {
    holds = List.copyOf(holds);
    outages = List.copyOf(outages);
  }

  /** Something that can be held. */
  public static Lane ofHolds(String name, List<Hold> holds) {
    return new Lane(name, holds, List.of());
  }

  /** Something that can be away. */
  public static Lane ofOutages(String name, List<Outage> outages) {
    return new Lane(name, List.of(), outages);
  }

  Lane within(Timeline.Frame frame) {
    return new Lane(
        name,
        holds.stream()
            .filter(hold -> frame.touches(hold.enteredNanos(), hold.leftNanos()))
            .toList(),
        outages.stream()
            .filter(outage -> frame.touches(outage.fromNanos(), outage.toNanos()))
            .toList());
  }
}
