package io.mortise.connection.testing;

import io.mortise.connection.pool.ConnectionSettings;
import java.time.Duration;

/** Settings of connections, as tests want them. */
public final class TestSettings {
  public static final ConnectionSettings DEFAULTS =
      new ConnectionSettings(64, Duration.ofSeconds(2));

  private TestSettings() {}

  public static ConnectionSettings within(Duration commandTimeout) {
    return new ConnectionSettings(DEFAULTS.maxConnections(), commandTimeout);
  }

  public static ConnectionSettings connections(int most) {
    return new ConnectionSettings(most, DEFAULTS.commandTimeout());
  }
}
