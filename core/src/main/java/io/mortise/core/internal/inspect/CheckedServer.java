package io.mortise.core.internal.inspect;

import io.mortise.core.ServerHealth.Finding;
import io.mortise.core.ServerHealth.Server;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** What a check found of one server. */
record CheckedServer(
    String address,
    boolean isReachable,
    Optional<String> version,
    Optional<String> role,
    Optional<Duration> roundTrip,
    Optional<Duration> clockOffset,
    List<Finding> findings)
    implements Server {

  /** Sorts the findings, the worst first. */
  CheckedServer {
    findings =
        findings.stream().sorted(Comparator.comparing(Finding::severity).reversed()).toList();
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(address);
    text.append(isReachable ? ": answers" : ": does not answer");
    roundTrip.ifPresent(time -> text.append(" in ").append(time.toNanos() / 1_000).append(" us"));
    version.ifPresent(value -> text.append(", version ").append(value));
    role.ifPresent(value -> text.append(", ").append(value));
    clockOffset.ifPresent(
        offset -> text.append(", clock ").append(offset.toMillis()).append(" ms from ours"));
    findings.forEach(finding -> text.append("\n  ").append(finding));
    return text.toString();
  }
}
