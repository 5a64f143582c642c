package io.mortise.cli.demo;

import java.time.Duration;
import java.util.List;

/**
 * A demo that was played.
 *
 * @param version of Mortise
 * @param redis description of the Redis
 * @param took the duration
 */
public record DemoReport(
    String version,
    String redis,
    DemoSettings settings,
    List<ChapterReport> chapters,
    Duration took) {

  /** Keeps a copy of the list. */
  public DemoReport {
    chapters = List.copyOf(chapters);
  }

  /** Whether every chapter holds. */
  public boolean ok() {
    return chapters.stream().allMatch(chapter -> chapter.outcome().ok());
  }
}
