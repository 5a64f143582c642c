package io.mortise.cli.demo;

/** Shows nothing of a chapter. */
public final class SilentProgress implements Progress {
  @Override
  public void to(long served) {}

  @Override
  public void say(String what) {}

  @Override
  public void log(String line) {}

  @Override
  public void close() {}
}
