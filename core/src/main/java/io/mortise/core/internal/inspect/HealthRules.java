package io.mortise.core.internal.inspect;

import io.mortise.connection.pool.EvictionPolicyCheck;
import io.mortise.connection.pool.ServerInfo;
import io.mortise.core.LockOptions;
import io.mortise.core.ServerHealth.Check;
import io.mortise.core.ServerHealth.Severity;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The rules by which the answers of a server become findings.
 *
 * <p><b>Threads.</b> Stateless; any thread may call any method.
 */
final class HealthRules {
  /** The lowest version that is supported and tested. */
  private static final int LOWEST_MAJOR = 6;

  private static final int LOWEST_MINOR = 2;

  /** A round trip above this is worth a look: in one data center it takes about 1 ms. */
  private static final long LONG_ROUND_TRIP_MILLIS = 100;

  /** A renewal is sent when a third of the lease is over, and may have to be repeated. */
  private static final int MIN_ROUND_TRIPS_IN_A_LEASE = 10;

  private static final long MAX_CLOCK_OFFSET_MILLIS = 5_000;

  /** How far the clocks of two servers of one deployment may differ. */
  private static final long MAX_CLOCK_DIFFERENCE_MILLIS = 1_000;

  private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+).*");

  private HealthRules() {}

  static void judge(ServerAnswers answers, LockOptions options, CheckResults results) {
    ServerInfo info = answers.info();
    if (info.field("redis_version").isEmpty()) {
      results.info(
          Check.VERSION,
          "version, role, eviction policy and persistence are not known: the server does not answer"
              + " INFO",
          "allow +info, which also lets a client notice a restart of the server");
    } else {
      version(info, results);
      role(info, results);
      eviction(info, results);
      DurabilityRules.restart(info, results);
      DurabilityRules.failover(info, options, results);
    }
    if (!(answers.ping() instanceof JedisDataException)) {
      roundTrip(answers.pingNanos(), options, results);
    }
    clock(answers.clockOffsetMillis(), results);
  }

  private static void version(ServerInfo info, CheckResults results) {
    String version = info.field("redis_version").orElseThrow();
    results.fact(
        Check.VERSION,
        info.field("valkey_version").map(own -> "Valkey " + own).orElse("Redis " + version));
    Matcher parts = VERSION.matcher(version);
    if (parts.matches()) {
      int major = Integer.parseInt(parts.group(1));
      int minor = Integer.parseInt(parts.group(2));
      if (major < LOWEST_MAJOR || (major == LOWEST_MAJOR && minor < LOWEST_MINOR)) {
        results.error(
            Check.VERSION,
            "its version %s is lower than %d.%d, the lowest that is supported"
                .formatted(version, LOWEST_MAJOR, LOWEST_MINOR),
            "use a newer Redis");
      }
    }
  }

  private static void role(ServerInfo info, CheckResults results) {
    String role = info.field("role").orElse("");
    results.fact(Check.ROLE, role.equals("slave") ? "replica" : role);
    if (role.equals("slave")) {
      results.error(
          Check.ROLE,
          "it is a replica, which takes no locks",
          "name its master, or the sentinels that watch it");
    }
  }

  private static void eviction(ServerInfo info, CheckResults results) {
    long limit = info.number("maxmemory").orElse(0);
    info.field("maxmemory_policy")
        .ifPresent(
            policy ->
                results.fact(
                    Check.EVICTION,
                    limit == 0 ? "no maxmemory" : "maxmemory %d, %s".formatted(limit, policy)));
    EvictionPolicyCheck.risk(info)
        .ifPresent(
            risk -> results.warning(Check.EVICTION, "it " + risk, EvictionPolicyCheck.REMEDY));
  }

  private static void roundTrip(long nanos, LockOptions options, CheckResults results) {
    double millis = nanos / 1e6;
    results.fact(Check.ROUND_TRIP, String.format(Locale.ROOT, "%.2f ms", millis));
    Duration lease = options.lease();
    if (nanos > lease.toNanos() / MIN_ROUND_TRIPS_IN_A_LEASE) {
      results.warning(
          Check.ROUND_TRIP,
          String.format(
              Locale.ROOT,
              "a command takes %.0f ms, and a lease of %d ms leaves little time for its renewal",
              millis,
              lease.toMillis()),
          "lengthen LockOptions.lease, or bring the client nearer to the server");
    } else if (millis > LONG_ROUND_TRIP_MILLIS) {
      results.info(
          Check.ROUND_TRIP,
          String.format(
              Locale.ROOT, "a command takes %.0f ms, and each lock needs two of them", millis),
          "bring the client nearer to the server, or look at its load and its slow log");
    }
  }

  private static void clock(OptionalLong offsetMillis, CheckResults results) {
    if (offsetMillis.isEmpty()) {
      return;
    }
    long offset = offsetMillis.getAsLong();
    results.fact(Check.CLOCK, "%+d ms from the clock of this process".formatted(offset));
    if (Math.abs(offset) > MAX_CLOCK_OFFSET_MILLIS) {
      results.info(
          Check.CLOCK,
          "its clock is %d ms from the clock of this process".formatted(offset),
          "synchronise the clocks, if times from both are compared; leases do not depend on it");
    }
  }

  /**
   * Returns the servers with a finding for each whose clock differs from the median of all: a lease
   * that a failover moves to another node ends by that node's clock.
   */
  static List<CheckedServer> compareClocks(List<CheckedServer> servers) {
    List<Duration> offsets =
        servers.stream()
            .map(CheckedServer::clockOffset)
            .flatMap(Optional::stream)
            .sorted()
            .toList();
    if (offsets.size() < 2) {
      return servers;
    }
    Duration median = offsets.get((offsets.size() - 1) / 2);
    return servers.stream().map(server -> compareClock(server, median)).toList();
  }

  private static CheckedServer compareClock(CheckedServer server, Duration median) {
    long difference = server.clockOffset().map(own -> own.minus(median).toMillis()).orElse(0L);
    return Math.abs(difference) <= MAX_CLOCK_DIFFERENCE_MILLIS
        ? server
        : server.with(
            HealthFinding.of(
                Check.CLOCK,
                Severity.WARNING,
                "its clock is %d ms from those of the other servers".formatted(difference),
                "synchronise the clocks of all servers: a lease that a failover moves ends by the"
                    + " clock of the next master"));
  }
}
