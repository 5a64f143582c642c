package io.mortise.cli.timeline;

import java.util.List;

/** A stretch of time in which a server was not there. */
public record Outage(int server, long fromNanos, long toNanos) {

  /** How many servers were away at that moment. */
  public static int countAt(List<Outage> outages, long nanos) {
    return (int) outages.stream().filter(outage -> outage.covers(nanos)).count();
  }

  private boolean covers(long nanos) {
    return fromNanos <= nanos && nanos < toNanos;
  }
}
