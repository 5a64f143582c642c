package io.mortise.cli.timeline;

/** A drawing of a chapter: a {@code Timeline} or {@code LineUps}. */
public interface Drawing {

  /** Describes what the drawing shows. */
  String caption();
}
