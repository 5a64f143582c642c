package io.mortise.cli.timeline;

import java.util.List;

/**
 * A row of a {@code Timeline} below those of the threads: an account, or a server.
 *
 * @param holds the holds of the account
 * @param outages the outages of the server
 */
public record Lane(String name, List<Hold> holds, List<Outage> outages) {

  /** Keeps copies of the lists. */
  public Lane {
    holds = List.copyOf(holds);
    outages = List.copyOf(outages);
  }

  /** The lane of something that threads hold. */
  public static Lane ofHolds(String name, List<Hold> holds) {
    return new Lane(name, holds, List.of());
  }

  /** The lane of something that can be down. */
  public static Lane ofOutages(String name, List<Outage> outages) {
    return new Lane(name, List.of(), outages);
  }
}
