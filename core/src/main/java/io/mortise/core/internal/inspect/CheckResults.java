package io.mortise.core.internal.inspect;

import io.mortise.core.ServerHealth.Check;
import io.mortise.core.ServerHealth.Finding;
import io.mortise.core.ServerHealth.Severity;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The results of the checks of one server so far: what they have seen, and their findings.
 *
 * <p><b>Threads.</b> Confined to the thread that checks the server.
 */
final class CheckResults {
  private final Map<Check, String> facts = new EnumMap<>(Check.class);
  private final List<Finding> findings = new ArrayList<>();

  void fact(Check check, String fact) {
    facts.put(check, fact);
  }

  void add(Finding finding) {
    findings.add(finding);
  }

  void error(Check check, String problem, String remedy) {
    add(HealthFinding.of(check, Severity.ERROR, problem, remedy));
  }

  void warning(Check check, String problem, String remedy) {
    add(HealthFinding.of(check, Severity.WARNING, problem, remedy));
  }

  void info(Check check, String problem, String remedy) {
    add(HealthFinding.of(check, Severity.INFO, problem, remedy));
  }

  Map<Check, String> facts() {
    return facts;
  }

  List<Finding> findings() {
    return findings;
  }
}
