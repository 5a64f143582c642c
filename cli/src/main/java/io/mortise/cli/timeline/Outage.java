package io.mortise.cli.timeline;

import java.util.List;

/** A time in which a server was down. */
public record Outage(int server, long fromNanos, long toNanos) {

  /** Returns the number of servers that were down at that moment. */
  public static int countAt(List<Outage> outages, long nanos) {
    return (int) outages.stream().filter(outage -> outage.covers(nanos)).count();
  }

  private boolean covers(long nanos) {
    return fromNanos <= nanos && nanos < toNanos;
  }
}
