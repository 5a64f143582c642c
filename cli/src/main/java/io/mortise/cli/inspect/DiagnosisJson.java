package io.mortise.cli.inspect;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.mortise.cli.options.OptionNames;
import io.mortise.core.ServerHealth;
import io.mortise.core.ServerHealth.Finding;
import io.mortise.core.ServerHealth.Severity;
import java.util.Locale;

/**
 * A diagnosis as JSON:
 *
 * <pre>
 * {"severity": ok, info, warning or error,
 *  "servers": [{"uri": ..., "address": ..., "reachable": ..., "version": ..., "role": ...,
 *    "roundTripMicros": ..., "clockOffsetMillis": ..., "facts": {CHECK: ..., ...},
 *    "findings": [{"check": ..., "severity": ..., "problem": ..., "remedy": ..., "reason": ...}]}],
 *  "together": [{"severity": ..., "problem": ..., "remedy": ...}]}
 * </pre>
 *
 * <p>A fact that is not known has no field.
 */
public final class DiagnosisJson {
  private DiagnosisJson() {}

  /** Returns the object of all servers. */
  public static ObjectNode of(Diagnosis diagnosis) {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    root.put("severity", word(diagnosis.severity()));
    ArrayNode servers = root.putArray("servers");
    for (Diagnosis.Deployment deployment : diagnosis.deployments()) {
      for (ServerHealth.Server server : deployment.health().servers()) {
        add(servers.addObject().put("uri", deployment.uri()), server);
      }
    }
    ArrayNode together = root.putArray("together");
    diagnosis
        .together()
        .forEach(each -> add(together.addObject(), each.severity(), each.problem(), each.remedy()));
    return root;
  }

  private static void add(ObjectNode node, ServerHealth.Server server) {
    node.put("address", server.address());
    node.put("reachable", server.isReachable());
    server.version().ifPresent(version -> node.put("version", version));
    server.role().ifPresent(role -> node.put("role", role));
    server.roundTrip().ifPresent(time -> node.put("roundTripMicros", time.toNanos() / 1_000));
    server.clockOffset().ifPresent(time -> node.put("clockOffsetMillis", time.toMillis()));
    ObjectNode facts = node.putObject("facts");
    server.facts().forEach((check, fact) -> facts.put(word(check), fact));
    ArrayNode findings = node.putArray("findings");
    for (Finding finding : server.findings()) {
      ObjectNode each = findings.addObject().put("check", word(finding.check()));
      add(each, finding.severity(), finding.problem(), finding.remedy());
      finding.cause().ifPresent(cause -> each.put("reason", word(cause.reason())));
    }
  }

  private static void add(ObjectNode node, Severity severity, String problem, String remedy) {
    node.put("severity", word(severity))
        .put("problem", OptionNames.in(problem))
        .put("remedy", OptionNames.in(remedy));
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
