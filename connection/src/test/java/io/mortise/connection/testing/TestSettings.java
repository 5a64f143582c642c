package io.mortise.connection.testing;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.pool.ConnectionSettings.Durability;
import io.mortise.connection.pool.ConnectionSettings.Security;
import java.time.Duration;
import java.util.Random;

/** Settings of connections, as tests want them. */
public final class TestSettings {
  public static final ConnectionSettings DEFAULTS = settings(64, Duration.ofSeconds(2));

  private TestSettings() {}

  private static ConnectionSettings settings(int maxConnections, Duration commandTimeout) {
    return new ConnectionSettings(
        maxConnections,
        commandTimeout,
        new Durability(0, false, Duration.ZERO),
        Security.NONE,
        Ticker.systemTicker(),
        new Random(1));
  }

  public static ConnectionSettings within(Duration commandTimeout) {
    return settings(DEFAULTS.maxConnections(), commandTimeout);
  }

  public static ConnectionSettings by(Ticker ticker) {
    return new ConnectionSettings(
        DEFAULTS.maxConnections(),
        DEFAULTS.commandTimeout(),
        DEFAULTS.durability(),
        Security.NONE,
        ticker,
        DEFAULTS.random());
  }

  public static ConnectionSettings connections(int most) {
    return settings(most, DEFAULTS.commandTimeout());
  }

  /** Returns the deadline at the given time from now. */
  public static Deadline after(long nanos) {
    return Deadline.after(nanos, DEFAULTS.ticker());
  }
}
