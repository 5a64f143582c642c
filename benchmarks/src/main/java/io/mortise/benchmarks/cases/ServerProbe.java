package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.measure.ServerCounters;
import io.mortise.testkit.RedisServer;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/** The questions to a server beside the number of its commands. */
enum ServerProbe {
  /** Nothing. */
  NONE {
    @Override
    Measurement begin(RedisServer server) {
      return ops -> Map.of();
    }
  },
  /** The processor time of the server. */
  PROCESSOR {
    @Override
    Measurement begin(RedisServer server) {
      ServerCounters before = counters(server);
      return ops ->
          Map.of("redis_cpu_us_per_op", (double) counters(server).since(before).cpuMicros() / ops);
    }
  },
  /** Scripts, PUBLISH and delivered messages for each cycle. */
  MESSAGES {
    @Override
    Measurement begin(RedisServer server) {
      ServerCounters before = counters(server);
      return ops -> {
        ServerCounters its = counters(server).since(before);
        return Map.of(
            "scripts_per_op",
            (double) its.scripts() / ops,
            "publishes_per_op",
            (double) its.publishes() / ops,
            "messages_per_op",
            (double) its.messages() / ops);
      };
    }
  },
  /** The time in scripts, in which Redis does nothing else. */
  BLOCKING {
    @Override
    Measurement begin(RedisServer server) {
      logSlow(server, SLOW_MICROS);
      ServerCounters before = counters(server);
      return ops -> {
        ServerCounters its = counters(server).since(before);
        double mean = (double) its.scriptMicros() / Math.max(1, its.scripts());
        double longest = scriptMicros(server).max().orElse(0);
        return Map.of(
            "server_us_per_op",
            (double) its.scriptMicros() / ops,
            // Below the threshold nothing is logged; then the mean is the best that is known.
            "server_blocked_max_us",
            Math.max(longest, mean));
      };
    }
  };

  /** Few commands of a script take so long, so that the scripts remain in the log. */
  private static final int SLOW_MICROS = 50;

  private static final int LOG_ENTRIES = 10_000;

  /** A measurement that has begun. */
  @FunctionalInterface
  interface Measurement {

    /** Ends it; returns the figures, some of them for each of that many operations. */
    Map<String, Double> end(long ops);
  }

  /** Begins to measure. */
  abstract Measurement begin(RedisServer server);

  /** What the server has counted by now. */
  static ServerCounters counters(RedisServer server) {
    return ServerCounters.parse(String.valueOf(server.command("INFO", "all")));
  }

  /** Empties the log of slow commands, and logs those that take longer. */
  static void logSlow(RedisServer server, int micros) {
    server.command("CONFIG", "SET", "slowlog-max-len", Integer.toString(LOG_ENTRIES));
    server.command("CONFIG", "SET", "slowlog-log-slower-than", Integer.toString(micros));
    server.command("SLOWLOG", "RESET");
  }

  /** The durations of the scripts in the log of slow commands, µs. */
  static LongStream scriptMicros(RedisServer server) {
    Object log = server.command("SLOWLOG", "GET", Integer.toString(LOG_ENTRIES));
    return (log instanceof List<?> entries ? entries : List.of())
        .stream()
            .map(entry -> (List<?>) entry)
            .filter(ServerProbe::isScript)
            .mapToLong(entry -> (Long) entry.get(2));
  }

  private static boolean isScript(List<?> entry) {
    String command = String.valueOf(((List<?>) entry.get(3)).get(0));
    return command.equalsIgnoreCase("EVALSHA") || command.equalsIgnoreCase("EVAL");
  }
}
