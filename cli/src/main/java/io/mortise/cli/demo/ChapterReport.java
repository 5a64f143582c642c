package io.mortise.cli.demo;

import java.time.Duration;
import java.util.List;

/**
 * A chapter that was played.
 *
 * @param took the duration
 * @param log the lines that the workers logged meanwhile
 */
public record ChapterReport(
    String name, String title, String story, Outcome outcome, Duration took, List<String> log) {

  /** Keeps a copy of the list. */
  public ChapterReport {
    log = List.copyOf(log);
  }
}
