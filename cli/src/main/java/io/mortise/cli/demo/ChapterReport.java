package io.mortise.cli.demo;

import java.time.Duration;
import java.util.List;

/**
 * A chapter that was played.
 *
 * @param took how long it took
 * @param log what the workers logged meanwhile
 */
public record ChapterReport(
    String name, String title, String story, Outcome outcome, Duration took, List<String> log) {

  /** Keeps a copy of the list. */
  public ChapterReport {
    log = List.copyOf(log);
  }
}
