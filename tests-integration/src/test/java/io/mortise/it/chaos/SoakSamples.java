package io.mortise.it.chaos;

import io.mortise.it.chaos.Metric.Trend;
import io.mortise.testkit.RedisServer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The samples of each {@link Metric} of one lock, taken after each round. */
final class SoakSamples {
  private final TestedLock tested;
  private final Map<Metric, List<Long>> samples = new EnumMap<>(Metric.class);

  SoakSamples(TestedLock tested) {
    this.tested = tested;
    for (Metric metric : Metric.values()) {
      samples.put(metric, new ArrayList<>());
    }
  }

  /** Takes a sample of each metric; the threads of the clients rest. */
  void take(ChaosServers servers, ChaosClients clients) throws InterruptedException {
    Map<Metric, Long> sums = clients.sample();
    for (RedisServer server : servers.masters()) {
      sums.merge(Metric.KEYS, Leftovers.keys(server).count(), Long::sum);
      sums.merge(Metric.CONNECTIONS, Leftovers.connections(server).count(), Long::sum);
    }
    sums.forEach((metric, sum) -> samples.get(metric).add(sum));
  }

  /** Returns what grew, or that there were too few samples to know. */
  List<String> violations() {
    List<String> found = new ArrayList<>();
    samples.forEach(
        (metric, values) ->
            metric
                .trend(values)
                .ifPresentOrElse(
                    trend -> {
                      if (trend.grows()) {
                        found.add("%s: grows: %s; all: %s".formatted(tested, trend, values));
                      }
                    },
                    () -> found.add("%s: too few samples: %s".formatted(tested, values))));
    return found;
  }

  /** Returns the head of a table in Markdown, with the metrics as columns. */
  static String head() {
    return Arrays.stream(Metric.values())
            .map(Metric::title)
            .collect(Collectors.joining(" | ", "| lock | samples | ", " |\n"))
        + "|---|--:".concat("|--:".repeat(Metric.values().length)).concat("|\n");
  }

  /** Returns the row of this lock: of each metric the medians of the first and the second half. */
  String row() {
    return samples.entrySet().stream()
        .map(
            each ->
                each.getKey()
                    .trend(each.getValue())
                    .map(SoakSamples::medians)
                    .orElse(each.getValue().toString()))
        .collect(
            Collectors.joining(
                " | ", "| %s | %d | ".formatted(tested, samples.get(Metric.KEYS).size()), " |\n"));
  }

  private static String medians(Trend trend) {
    return "%,d, %,d".formatted(trend.first(), trend.second());
  }
}
