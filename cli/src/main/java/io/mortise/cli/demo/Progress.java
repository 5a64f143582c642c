package io.mortise.cli.demo;

/** How far a chapter is. */
public interface Progress extends AutoCloseable {

  /** so many have been sold. */
  void to(long sold);

  /** What is going on, in a few words. */
  void say(String what);

  /** A line of a worker's log. */
  void log(String line);

  @Override
  void close();
}
