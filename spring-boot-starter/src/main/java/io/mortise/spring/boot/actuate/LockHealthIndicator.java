package io.mortise.spring.boot.actuate;

import io.mortise.core.LockClient;
import io.mortise.core.ServerHealth;
import io.mortise.core.ServerHealth.Server;
import io.mortise.core.ServerHealth.Severity;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * The health of Redis: whether it is there, fit for locks, and allowed to the client's user ({@link
 * LockClient#ping}). It is down when locks do not work, or not all of them; a warning is a detail.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
public final class LockHealthIndicator extends AbstractHealthIndicator {
  private final LockClient client;

  /** Creates the indicator of that client. */
  public LockHealthIndicator(LockClient client) {
    super("The locks could not be checked");
    this.client = client;
  }

  @Override
  protected void doHealthCheck(Health.Builder builder) {
    ServerHealth health = client.ping();
    if (health.isReachable() && health.severity().compareTo(Severity.ERROR) < 0) {
      builder.up();
    } else {
      builder.down();
    }
    builder.withDetail("severity", health.severity().name());
    builder.withDetail("servers", health.servers().stream().map(this::describe).toList());
  }

  private Map<String, Object> describe(Server server) {
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("address", server.address());
    details.put("reachable", server.isReachable());
    server.version().ifPresent(version -> details.put("version", version));
    server.role().ifPresent(role -> details.put("role", role));
    server.roundTrip().ifPresent(time -> details.put("roundTripMicros", time.toNanos() / 1_000));
    details.put(
        "findings",
        server.findings().stream()
            .map(
                finding ->
                    Map.of(
                        "severity", finding.severity().name(),
                        "problem", finding.problem(),
                        "remedy", finding.remedy()))
            .toList());
    return details;
  }
}
