package io.mortise.cli.timeline;

import java.util.List;

/** A drawing of several lines of threads, side by side. */
public record LineUps(List<LineUp> sides, String caption) implements Drawing {

  /** Keeps a copy of the list. */
  public LineUps {
    sides = List.copyOf(sides);
  }
}
