package io.mortise.core.internal.inspect;

import io.mortise.core.ServerHealth.Check;
import io.mortise.core.ServerHealth.Finding;
import io.mortise.core.ServerHealth.Server;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The result of the check of one server. */
record CheckedServer(
    String address,
    boolean isReachable,
    Optional<String> version,
    Optional<String> role,
    Optional<Duration> roundTrip,
    Optional<Duration> clockOffset,
    List<Finding> findings,
    Map<Check, String> facts)
    implements Server {

  /** Sorts the findings, the worst first, and the facts in the order of the checks. */
  CheckedServer {
    findings =
        findings.stream().sorted(Comparator.comparing(Finding::severity).reversed()).toList();
    Map<Check, String> ordered = new EnumMap<>(Check.class);
    ordered.putAll(facts);
    facts = Collections.unmodifiableMap(ordered);
  }

  /** Returns a server of which nothing is known but the reason. */
  static CheckedServer unknown(String address, boolean reachable, Finding reason) {
    return new CheckedServer(
        address,
        reachable,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        List.of(reason),
        Map.of());
  }

  CheckedServer with(Finding finding) {
    List<Finding> more = new ArrayList<>(findings);
    more.add(finding);
    return new CheckedServer(
        address, isReachable, version, role, roundTrip, clockOffset, more, facts);
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
