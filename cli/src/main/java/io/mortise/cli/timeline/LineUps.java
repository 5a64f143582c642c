package io.mortise.cli.timeline;

import java.util.List;

/** The orders of several line-ups, side by side. */
public record LineUps(List<LineUp> sides, String caption) implements Drawing {

  /** Keeps a copy of the list. */
  public LineUps {
    sides = List.copyOf(sides);
  }
}
