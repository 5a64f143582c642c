package io.mortise.it.support;

import io.mortise.core.LockOptions;
import io.mortise.testkit.JavaProcess;

/**
 * Starts child JVMs whose options make the start quick: most of them end before it would pay to
 * compile well, and two processors run many of them.
 */
public final class ChildJvm {
  private ChildJvm() {}

  /**
   * Options of a client in a child, whose commands may be slow while its JVM starts: that takes
   * seconds on a busy machine.
   */
  public static LockOptions.Builder options() {
    return LockOptions.builder().commandTimeout(Eventually.LIVENESS);
  }

  public static JavaProcess start(Class<?> main, String... arguments) {
    return builder(main).arguments(arguments).start();
  }

  public static JavaProcess.Builder builder(Class<?> main) {
    return JavaProcess.builder(main).jvmOptions("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
  }
}
