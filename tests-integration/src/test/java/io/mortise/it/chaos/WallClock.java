package io.mortise.it.chaos;

import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The wall clock of one process, a server or a JVM, which differs from that of the machine, and
 * steps.
 *
 * <p><b>Threads.</b> For one thread at a time.
 */
final class WallClock {
  private final PreloadedLibrary.Control shiftMicros;
  private Duration shift = Duration.ZERO;

  /** Makes a clock that agrees with the machine's, in a file of that directory. */
  WallClock(Path directory) {
    try {
      shiftMicros = PreloadedLibrary.Control.in(directory);
    } catch (IOException e) {
      throw new UncheckedIOException("no file for a clock", e);
    }
  }

  /** Gives the clock to a server that is to be started. */
  RedisServer.Builder on(RedisServer.Builder builder) {
    PreloadedLibrary.CLOCK.preload(shiftMicros, builder::environment);
    return builder;
  }

  /** Gives the clock to a JVM that is to be started. */
  JavaProcess.Builder on(JavaProcess.Builder builder) {
    PreloadedLibrary.CLOCK.preload(shiftMicros, builder::environment);
    return builder;
  }

  /** Steps the clock forward, or back by a negative time. */
  void step(Duration by) {
    set(shift.plus(by));
  }

  /** Sets the clock ahead of the machine's, or behind by a negative time. */
  void set(Duration ahead) {
    shift = ahead;
    try {
      shiftMicros.set(TimeUnit.NANOSECONDS.toMicros(shift.toNanos()));
    } catch (IOException e) {
      throw new UncheckedIOException("the clock cannot be set", e);
    }
  }
}
