package io.mortise.cli.demo;

import io.mortise.cli.worker.WorkerTask;

/**
 * One thing that the demo shows. A chapter has two sides in one class: {@link #play} runs in the
 * demo, gives the worker processes their jobs and judges what came out; {@link #work} runs in them,
 * in each of their threads. The two share no memory.
 *
 * <p>A new chapter is a class and its line in {@link Chapters}.
 */
public interface Chapter extends WorkerTask {

  /** The word for {@code --chapter}, and in the JSON. */
  String name();

  /** The heading. */
  String title();

  /** What is shown, in a sentence or two. */
  String story();

  /** How many stays inside it is made of, about. */
  default long expected(DemoSettings settings) {
    return settings.stock();
  }

  /** Plays the chapter, and says what came out. */
  Outcome play(ChapterRun stage) throws InterruptedException;
}
