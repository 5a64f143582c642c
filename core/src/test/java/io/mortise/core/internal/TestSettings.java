package io.mortise.core.internal;

import java.time.Duration;

/** Settings of connections, as tests want them. */
final class TestSettings {
  static final ConnectionSettings DEFAULTS = new ConnectionSettings(64, Duration.ofSeconds(2));

  private TestSettings() {}

  static ConnectionSettings within(Duration commandTimeout) {
    return new ConnectionSettings(DEFAULTS.maxConnections(), commandTimeout);
  }

  static ConnectionSettings connections(int most) {
    return new ConnectionSettings(most, DEFAULTS.commandTimeout());
  }
}
