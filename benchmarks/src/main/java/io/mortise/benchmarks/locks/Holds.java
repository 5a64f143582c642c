package io.mortise.benchmarks.locks;

import java.time.Duration;

/** Locks that one client holds and renews. */
public interface Holds extends AutoCloseable {

  /** Takes that many, with names that begin so. */
  void take(String prefix, int count);

  /** How many of them it has lost. */
  int lost();

  @Override
  void close();

  /** Connects. */
  static Holds open(LockLibrary subject, String uri, Duration lease) {
    return switch (subject) {
      case MORTISE -> new MortiseHolds(uri, lease);
      case REDISSON -> new RedissonHolds(uri, lease);
      case FLOOR -> new FloorHolds(uri, lease);
    };
  }
}
