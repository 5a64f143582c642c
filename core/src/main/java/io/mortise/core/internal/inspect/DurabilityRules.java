package io.mortise.core.internal.inspect;

import io.mortise.connection.pool.ServerInfo;
import io.mortise.core.LockOptions;
import io.mortise.core.ServerHealth.Check;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * The rules by which the INFO of a server shows whether it has the locks after a restart, and
 * whether a replica has them that takes its place.
 *
 * <p><b>Threads.</b> Stateless; any thread may call any method.
 */
final class DurabilityRules {
  private static final String FAILED = "err";

  /** A replica acknowledges once a second. */
  private static final long MAX_LAG_SECONDS = 10;

  private static final Pattern REPLICA =
      Pattern.compile("(?m)^slave\\d+:ip=([^,]*),port=(\\d+),state=(\\w+),offset=\\d+,lag=(\\d+)");

  private DurabilityRules() {}

  static void restart(ServerInfo info, CheckResults results) {
    OptionalLong appendOnly = info.number("aof_enabled");
    if (appendOnly.isEmpty()) {
      results.info(
          Check.PERSISTENCE,
          "whether it keeps locks over a restart is not known: INFO does not say",
          "see to it that it has appendonly yes, or is not restarted while locks are held");
      return;
    }
    boolean keeps = appendOnly.getAsLong() != 0;
    results.fact(Check.PERSISTENCE, keeps ? "appendonly yes" : "appendonly no");
    if (!keeps) {
      results.warning(
          Check.PERSISTENCE,
          "after a restart it lacks locks that were held, and grants them again: it has appendonly"
              + " no",
          "set appendonly yes, or let what the locks protect check fencing tokens");
      replicas(info, results);
    } else if (info.field("aof_last_write_status").orElse("").equals(FAILED)) {
      results.error(
          Check.PERSISTENCE,
          "its append-only file could not be written, and it refuses writes until it can",
          "look at its log, and at the space on its disk");
    }
    if (info.field("rdb_last_bgsave_status").orElse("").equals(FAILED)) {
      results.warning(
          Check.PERSISTENCE,
          "its last snapshot failed: with stop-writes-on-bgsave-error it refuses locks",
          "look at its log, and at the space on its disk");
    }
  }

  /** A master that restarts empty at once, before anyone notices, empties its replicas too. */
  private static void replicas(ServerInfo info, CheckResults results) {
    long replicas = info.number("connected_slaves").orElse(0);
    if (replicas > 0) {
      results.warning(
          Check.PERSISTENCE,
          "a restart that is quicker than the failover empties its %d replicas too"
              .formatted(replicas),
          "set appendonly yes, or do not let the host restart it by itself");
    }
  }

  static void failover(ServerInfo info, LockOptions options, CheckResults results) {
    if (!info.field("role").orElse("").equals("master")) {
      return;
    }
    long replicas = info.number("connected_slaves").orElse(0);
    int required = options.acknowledgement().replicas();
    results.fact(
        Check.REPLICATION,
        replicas == 0
            ? "no replicas"
            : "%d replicas, %s"
                .formatted(
                    replicas,
                    required == 0
                        ? "of which none has to acknowledge"
                        : "of which " + required + " have to acknowledge"));
    if (replicas < required) {
      results.error(
          Check.REPLICATION,
          "it has %d connected replicas, and LockOptions.acknowledgement wants %d"
              .formatted(replicas, required),
          "connect more replicas, or require fewer");
    } else if (replicas > 0 && required == 0) {
      results.info(
          Check.REPLICATION,
          "a failover may forget the locks of the last moments: no replica has to acknowledge them",
          "set LockOptions.acknowledgement, or let what the locks protect check fencing tokens");
    }
    minimum(info, results);
    replicasOf(info).forEach(replica -> replica(replica, results));
  }

  /** The field is there when min-replicas-to-write is set; the number that it wants is not. */
  private static void minimum(ServerInfo info, CheckResults results) {
    OptionalLong good = info.number("min_slaves_good_slaves");
    if (good.isPresent()) {
      results.fact(
          Check.REPLICATION,
          "%s; min-replicas-to-write counts %d"
              .formatted(results.facts().get(Check.REPLICATION), good.getAsLong()));
      if (good.getAsLong() == 0) {
        results.warning(
            Check.REPLICATION,
            "it has min-replicas-to-write and no replica that counts: it refuses writes, from Redis"
                + " 7 on those of scripts too",
            "connect the replicas, or lower min-replicas-to-write");
      }
    }
  }

  private static List<MatchResult> replicasOf(ServerInfo info) {
    return REPLICA.matcher(info.text()).results().toList();
  }

  private static void replica(MatchResult replica, CheckResults results) {
    String address = replica.group(1) + ":" + replica.group(2);
    String state = replica.group(3);
    if (!state.equals("online")) {
      results.info(
          Check.REPLICATION,
          "its replica %s does not follow yet: its state is %s".formatted(address, state),
          "wait until it has loaded the data");
    } else if (Long.parseLong(replica.group(4)) > MAX_LAG_SECONDS) {
      results.warning(
          Check.REPLICATION,
          "its replica %s has acknowledged nothing for %s s".formatted(address, replica.group(4)),
          "look at the replica and at the network; a failover to it loses the locks since then");
    }
  }
}
