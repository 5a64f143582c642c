package io.mortise.cli.demo;

import io.mortise.cli.timeline.Drawing;
import java.util.List;

/**
 * What came out of a chapter.
 *
 * @param ok whether what the chapter claims was to be seen
 * @param explanation what was to be seen, in one sentence with its numbers
 */
public record Outcome(
    boolean ok, String explanation, List<Metric> figures, List<? extends Drawing> pictures) {

  /** Keeps copies of the lists. */
  public Outcome {
    figures = List.copyOf(figures);
    pictures = List.copyOf(pictures);
  }
}
