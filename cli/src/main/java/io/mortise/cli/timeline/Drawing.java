package io.mortise.cli.timeline;

/** Something that can be drawn of a chapter. */
public sealed interface Drawing permits Timeline, LineUps {

  /** What is to be seen. */
  String caption();
}
