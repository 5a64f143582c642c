package io.mortise.benchmarks.locks;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.micrometer.LockMetrics;
import java.time.Duration;
import java.util.Locale;
import jdk.jfr.Recording;

/** The observer of the locks of Mortise in a worker; a system property of its JVM names it. */
public enum Observer {
  NONE,
  /** As {@link #NONE}, in another JVM: what two of them differ by is no cost of an observer. */
  NONE_AGAIN,
  /** A listener that does nothing with its events. */
  LISTENER,
  /** The meters of {@code mortise-micrometer}, in a registry in memory. */
  METRICS,
  /** A recording of Flight Recorder with the default thresholds, which no cycle reaches. */
  RECORDING,
  /** A recording without a threshold: two events for each cycle. */
  FULL_RECORDING;

  private static final String PROPERTY = "mortise.bench.observer";
  private static final long MAX_RECORDING_BYTES = 64L << 20;

  /** Returns the observer that the JVM was started with. */
  static Observer ofThisJvm() {
    return valueOf(System.getProperty(PROPERTY, NONE.name()));
  }

  /** Returns the option that starts a JVM with this observer. */
  public String jvmOption() {
    return "-D" + PROPERTY + "=" + name();
  }

  /** Returns its name in tables. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  /** Connects a client that is observed. */
  LockClient connect(String uri) {
    return switch (this) {
      case NONE, NONE_AGAIN -> LockClient.create(uri);
      case LISTENER -> LockClient.create(uri, LockOptions.builder().listener(event -> {}).build());
      case METRICS -> withMetrics(uri);
      case RECORDING -> {
        start(new Recording());
        yield LockClient.create(uri);
      }
      case FULL_RECORDING -> {
        Recording recording = new Recording();
        recording.enable("io.mortise.LockWait").withThreshold(Duration.ZERO);
        recording.enable("io.mortise.LockHold").withThreshold(Duration.ZERO);
        start(recording);
        yield LockClient.create(uri);
      }
    };
  }

  private static LockClient withMetrics(String uri) {
    LockMetrics metrics = LockMetrics.create();
    metrics.bindTo(new SimpleMeterRegistry());
    return metrics.watch(LockClient.create(uri, LockOptions.builder().listener(metrics).build()));
  }

  private static void start(Recording recording) {
    recording.setMaxSize(MAX_RECORDING_BYTES);
    recording.start();
  }
}
