package io.mortise.it.observability;

import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.micrometer.LockMetrics;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the queries of the dashboard name is what Prometheus would scrape. */
@Timeout(60)
@Tag("redis-version")
class DashboardTest {
  private static final Path DASHBOARD =
      Path.of("..", "micrometer", "src", "main", "dashboards", "mortise-locks.json");

  private static final Pattern SELECTED = Pattern.compile("\\b(mortise_\\w+)\\{([^}]*)}");

  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  /** Returns what a registry shows after a lock was waited for, handed off, held and released. */
  private static String scrape() throws Exception {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    registry.config().meterFilter(new WithHistogram());
    LockMetrics metrics = LockMetrics.create();
    metrics.bindTo(registry);
    LockOptions options = LockOptions.builder().listener(metrics).build();
    try (LockClient client = metrics.watch(LockClient.create(redis.uri(), options))) {
      RedisLock lock = client.lock(Names.fresh());
      lock.lock();
      AsyncCall<Void> waiter = AsyncCall.cycle(lock).awaitQueued();
      lock.unlock();
      waiter.get();
      until(
          "both are measured",
          () -> registry.scrape().contains("_seconds_count{kind=\"lock\",outcome=\"released\"} 2"));
      return registry.scrape();
    }
  }

  /** The percentile histogram that docs/observability.md describes. */
  private static final class WithHistogram implements MeterFilter {
    @Override
    public DistributionStatisticConfig configure(Meter.Id id, DistributionStatisticConfig config) {
      return id.getName().equals("mortise.lock.acquire")
          ? DistributionStatisticConfig.builder().percentilesHistogram(true).build().merge(config)
          : config;
    }
  }

  private static List<String> queries() throws Exception {
    JsonNode dashboard = new ObjectMapper().readTree(DASHBOARD.toFile());
    List<String> queries = new ArrayList<>();
    dashboard.findValues("expr").forEach(query -> queries.add(query.asText()));
    dashboard.findValues("definition").forEach(query -> queries.add(query.asText()));
    return queries;
  }

  private static Stream<String> found(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(match -> match.group(1));
  }

  @Test
  void everyMetricOfAQueryIsScraped() throws Exception {
    String scraped = scrape();
    TreeSet<String> missing = new TreeSet<>();
    int seen = 0;
    for (String query : queries()) {
      for (String metric : found(Pattern.compile("\\b(mortise_\\w+)"), query).toList()) {
        seen++;
        if (scraped.lines().noneMatch(line -> line.matches(metric + "[{ ].*"))) {
          missing.add(metric);
        }
      }
    }

    assertTrue(seen > 20, "queries were found");
    assertEquals(new TreeSet<>(), missing, () -> scraped);
  }

  /** A query that sums by a label, or selects by one, that no meter has would show nothing. */
  @Test
  void everyLabelOfAQueryIsALabelOfItsMetric() throws Exception {
    String scraped = scrape();
    List<String> missing = new ArrayList<>();
    int seen = 0;
    for (String query : queries()) {
      TreeSet<String> grouped = new TreeSet<>();
      found(Pattern.compile("by \\(([\\w, ]+)\\)"), query)
          .forEach(by -> grouped.addAll(List.of(by.split(", ", -1))));
      for (MatchResult metric : SELECTED.matcher(query).results().toList()) {
        TreeSet<String> labels = new TreeSet<>(grouped);
        found(Pattern.compile("(\\w+)=~?\""), metric.group(2)).forEach(labels::add);
        labels.remove("instance"); // which Prometheus adds
        for (String label : labels) {
          seen++;
          String sample = metric.group(1) + "\\{.*\\b" + label + "=.*";
          if (scraped.lines().noneMatch(line -> line.matches(sample))) {
            missing.add(metric.group(1) + " has no " + label);
          }
        }
      }
    }

    assertTrue(seen > 15, "labels were found");
    assertEquals(List.of(), missing, () -> scraped);
  }

  @Test
  void everyMetricOfTheModuleIsInAQuery() throws Exception {
    String all = String.join("\n", queries());
    List<String> unused =
        found(Pattern.compile("# HELP (\\w+)"), scrape())
            .filter(name -> !name.endsWith("_max"))
            .filter(name -> !all.contains(name))
            .toList();

    assertFalse(all.isEmpty());
    assertEquals(List.of(), unused);
  }
}
