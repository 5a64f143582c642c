package io.mortise.it.support;

import io.mortise.testkit.JavaProcess;

/**
 * Starts child JVMs whose options make the start quick: most of them end before it would pay to
 * compile well, and two processors run many of them.
 */
public final class ChildJvm {
  private ChildJvm() {}

  public static JavaProcess start(Class<?> main, String... arguments) {
    return builder(main).arguments(arguments).start();
  }

  public static JavaProcess.Builder builder(Class<?> main) {
    return JavaProcess.builder(main).jvmOptions("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
  }
}
