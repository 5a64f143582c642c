package io.mortise.core.internal.inspect;

import io.mortise.connection.pool.ServerInfo;
import io.mortise.core.ServerHealth.Check;
import io.mortise.core.ServerHealth.Severity;
import java.util.OptionalLong;

/**
 * The rules that tell from the INFO of a server whether it has the locks after a restart.
 *
 * <p><b>Threads.</b> Stateless; any thread may call any method.
 */
final class PersistenceRules {
  private static final String FAILED = "err";

  private PersistenceRules() {}

  static void judge(ServerInfo info, CheckResults results) {
    OptionalLong appendOnly = info.number("aof_enabled");
    if (appendOnly.isEmpty()) {
      results.add(
          Check.PERSISTENCE,
          Severity.INFO,
          "whether it keeps locks over a restart is not known: INFO does not say",
          "see to it that it has appendonly yes, or is not restarted while locks are held");
      return;
    }
    boolean keeps = appendOnly.getAsLong() != 0;
    results.fact(Check.PERSISTENCE, keeps ? "appendonly yes" : "appendonly no");
    if (!keeps) {
      results.add(
          Check.PERSISTENCE,
          Severity.WARNING,
          "after a restart it lacks locks that were held, and grants them again: it has appendonly"
              + " no",
          "set appendonly yes, or let what the locks protect check fencing tokens");
      replicas(info, results);
    } else if (info.field("aof_last_write_status").orElse("").equals(FAILED)) {
      results.add(
          Check.PERSISTENCE,
          Severity.ERROR,
          "its append-only file could not be written, and it refuses writes until it can",
          "look at its log, and at the space on its disk");
    }
    if (info.field("rdb_last_bgsave_status").orElse("").equals(FAILED)) {
      results.add(
          Check.PERSISTENCE,
          Severity.WARNING,
          "its last snapshot failed: with stop-writes-on-bgsave-error it refuses locks",
          "look at its log, and at the space on its disk");
    }
  }

  /** A master that restarts empty at once, before anyone notices, empties its replicas too. */
  private static void replicas(ServerInfo info, CheckResults results) {
    long replicas = info.number("connected_slaves").orElse(0);
    if (replicas > 0) {
      results.add(
          Check.PERSISTENCE,
          Severity.WARNING,
          "a restart that is quicker than the failover empties its %d replicas too"
              .formatted(replicas),
          "set appendonly yes, or do not let the host restart it by itself");
    }
  }
}
