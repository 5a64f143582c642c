package io.mortise.benchmarks;

import io.mortise.testkit.RedisServer;

/** The machine on which the benchmark runs. */
final class Machine {

  private Machine() {}

  static String describe() {
    try (RedisServer server = RedisServer.start()) {
      return "%d processors (%s), JVM %s of %s, %s %s, Redis %s"
          .formatted(
              Runtime.getRuntime().availableProcessors(),
              System.getProperty("os.arch"),
              System.getProperty("java.version"),
              System.getProperty("java.vendor"),
              System.getProperty("os.name"),
              System.getProperty("os.version"),
              server.version());
    }
  }
}
