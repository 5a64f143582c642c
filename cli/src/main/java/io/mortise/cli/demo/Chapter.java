package io.mortise.cli.demo;

import io.mortise.cli.worker.WorkerTask;

/**
 * One thing that the demo shows. A chapter has two sides in one class: {@link #play} runs in the
 * demo, gives the worker processes their jobs and judges the outcome; {@link #work} runs in the
 * worker processes, in each of their threads. The two share no memory.
 *
 * <p>A new chapter is a class and its line in {@link Chapters}.
 */
public interface Chapter extends WorkerTask {

  /** Its name for {@code --chapter} and in the JSON. */
  String name();

  /** Its heading. */
  String title();

  /** Describes what it shows, in a few sentences. */
  String story();

  /** Returns about how many holds it has. */
  default long expected(DemoSettings settings) {
    return settings.stock();
  }

  /** Plays the chapter and returns its outcome. */
  Outcome play(ChapterRun run) throws InterruptedException;
}
