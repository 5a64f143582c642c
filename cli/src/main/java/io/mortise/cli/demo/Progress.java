package io.mortise.cli.demo;

/** How far a chapter is. */
public interface Progress extends AutoCloseable {

  /** So many stays inside are over. */
  void to(long served);

  /** What is going on, in a few words. */
  void say(String what);

  /** A line of a worker's log. */
  void log(String line);

  @Override
  void close();
}
