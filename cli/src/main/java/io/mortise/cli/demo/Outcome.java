package io.mortise.cli.demo;

import io.mortise.cli.timeline.Drawing;
import java.util.List;

/**
 * The outcome of a chapter.
 *
 * @param ok whether the claim of the chapter holds
 * @param explanation one sentence with the numbers
 */
public record Outcome(
    boolean ok, String explanation, List<Metric> figures, List<? extends Drawing> drawings) {

  /** Keeps copies of the lists. */
  public Outcome {
    figures = List.copyOf(figures);
    drawings = List.copyOf(drawings);
  }
}
