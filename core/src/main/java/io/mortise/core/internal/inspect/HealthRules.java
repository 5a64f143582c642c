package io.mortise.core.internal.inspect;

import io.mortise.connection.pool.EvictionPolicyCheck;
import io.mortise.connection.pool.ServerInfo;
import io.mortise.core.LockOptions;
import io.mortise.core.ServerHealth.Finding;
import io.mortise.core.ServerHealth.Severity;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What follows from the answers of a server.
 *
 * <p><b>Threads.</b> Stateless; any thread may call any method.
 */
final class HealthRules {
  /** The lowest version that is supported and tested. */
  private static final int LOWEST_MAJOR = 6;

  private static final int LOWEST_MINOR = 2;
  private static final long MAX_CLOCK_OFFSET_MILLIS = 5_000;
  private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+).*");

  private HealthRules() {}

  static List<Finding> findings(ServerAnswers answers, LockOptions options) {
    List<Finding> findings = new ArrayList<>();
    ServerInfo info = answers.info();
    if (info.field("redis_version").isEmpty()) {
      findings.add(
          HealthFinding.of(
              Severity.INFO,
              "version, role, eviction policy and persistence are not known: the server does not answer INFO",
              "allow +info, which also lets a client notice a restart of the server"));
    } else {
      version(info, findings);
      role(info, options, findings);
      EvictionPolicyCheck.risk(info)
          .ifPresent(
              risk ->
                  findings.add(
                      HealthFinding.of(
                          Severity.WARNING, "it " + risk, EvictionPolicyCheck.REMEDY)));
      persistence(info, findings);
    }
    clock(answers.clockOffsetMillis(), findings);
    return findings;
  }

  private static void version(ServerInfo info, List<Finding> findings) {
    String version = info.field("redis_version").orElseThrow();
    Matcher parts = VERSION.matcher(version);
    if (parts.matches()) {
      int major = Integer.parseInt(parts.group(1));
      int minor = Integer.parseInt(parts.group(2));
      if (major < LOWEST_MAJOR || (major == LOWEST_MAJOR && minor < LOWEST_MINOR)) {
        findings.add(
            HealthFinding.of(
                Severity.ERROR,
                "its version %s is lower than %d.%d, the lowest that is supported"
                    .formatted(version, LOWEST_MAJOR, LOWEST_MINOR),
                "use a newer Redis"));
      }
    }
  }

  private static void role(ServerInfo info, LockOptions options, List<Finding> findings) {
    String role = info.field("role").orElse("");
    if (role.equals("slave")) {
      findings.add(
          HealthFinding.of(
              Severity.ERROR,
              "it is a replica, which takes no locks",
              "name its master, or the sentinels that watch it"));
    }
    long replicas = info.number("connected_slaves").orElse(0);
    if (role.equals("master") && replicas < options.acknowledgement().replicas()) {
      findings.add(
          HealthFinding.of(
              Severity.ERROR,
              "it has %d connected replicas, and LockOptions.acknowledgement wants %d"
                  .formatted(replicas, options.acknowledgement().replicas()),
              "connect more replicas, or require fewer"));
    }
  }

  private static void persistence(ServerInfo info, List<Finding> findings) {
    OptionalLong appendOnly = info.number("aof_enabled");
    if (appendOnly.isEmpty()) {
      findings.add(
          HealthFinding.of(
              Severity.INFO,
              "whether it keeps locks over a restart is not known: INFO does not say",
              "see to it that it has appendonly yes, or is not restarted while locks are held"));
    } else if (appendOnly.getAsLong() == 0) {
      findings.add(
          HealthFinding.of(
              Severity.WARNING,
              "after a restart it lacks locks that were held, and grants them again: it has appendonly no",
              "set appendonly yes, or let what the locks protect check fencing tokens"));
    }
  }

  private static void clock(OptionalLong offsetMillis, List<Finding> findings) {
    if (offsetMillis.isPresent() && Math.abs(offsetMillis.getAsLong()) > MAX_CLOCK_OFFSET_MILLIS) {
      findings.add(
          HealthFinding.of(
              Severity.INFO,
              "its clock is %d ms from the clock of this process"
                  .formatted(offsetMillis.getAsLong()),
              "synchronise the clocks, if times from both are compared; leases do not depend on it"));
    }
  }
}
