package io.mortise.cli.demo;

/** Shows the progress of a chapter. */
public interface Progress extends AutoCloseable {

  /** Shows the number of holds that are over. */
  void to(long served);

  /** Shows what is going on, in a few words. */
  void say(String what);

  /** Shows a line of a worker's log. */
  void log(String line);

  @Override
  void close();
}
