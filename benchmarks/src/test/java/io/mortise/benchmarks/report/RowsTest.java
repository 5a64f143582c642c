package io.mortise.benchmarks.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.mortise.benchmarks.cases.Workload;
import io.mortise.benchmarks.cases.WorkloadResult;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.measure.Latencies;
import io.mortise.benchmarks.measure.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Help.Ansi;

/** From samples to rows, JSON and the table. */
class RowsTest {
  private static final List<String> FIXED =
      List.of(
          "case",
          "subject",
          "threads",
          "processes",
          "ops_per_s",
          "p50_us",
          "p99_us",
          "max_us",
          "redis_commands_per_op");

  @Test
  void everyRowHasTheFixedFieldsFirst() throws Exception {
    for (JsonNode row : json(Rows.of(List.of(well(), faulty())))) {
      List<String> names = new ArrayList<>();
      row.fieldNames().forEachRemaining(names::add);
      assertEquals(FIXED, names.subList(0, FIXED.size()));
    }
  }

  @Test
  void ratiosAreMortisesAndRoundByRound() throws Exception {
    JsonNode rows = json(Rows.of(List.of(well())));
    assertEquals("mortise", rows.get(0).get("subject").asText());
    assertEquals(2, rows.get(0).get("ratio_to_redisson").asDouble());
    assertEquals(0.5, rows.get(0).get("p50_ratio_to_redisson").asDouble());
    assertFalse(rows.get(0).has("ratio_to_bare_commands"), "there are no bare commands");
    assertFalse(rows.get(1).has("ratio_to_redisson"));
  }

  @Test
  void timesAreComparedToTheBaseline() throws Exception {
    JsonNode rows = json(Rows.of(List.of(faulty())));
    assertEquals("well", rows.get(0).get("baseline").asText());
    assertEquals(1.5, rows.get(0).get("p50_ratio_to_baseline").asDouble(), 0.01);
  }

  @Test
  void mediansAreOfTheRoundsButTheLongestIsThatOfAll() throws Exception {
    JsonNode row = json(Rows.of(List.of(well()))).get(0);
    assertEquals(200, row.get("ops_per_s").asDouble());
    assertEquals(100, row.get("p50_us").asDouble(), 1);
    assertEquals(1_000, row.get("max_us").asDouble(), 1);
    assertEquals(3, row.get("rounds").asInt());
    assertEquals(7, row.get("added").asDouble());
  }

  @Test
  void whatWasNotMeasuredIsNull() throws Exception {
    Sample sample = new Sample(Double.NaN, new Latencies(), Double.NaN, Map.of(), "it broke");
    JsonNode row = json(Rows.of(List.of(result("x", List.of(sample), List.of(), null)))).get(0);
    assertTrue(row.get("ops_per_s").isNull());
    assertTrue(row.get("max_us").isNull());
    assertEquals("1 of 1 rounds: it broke", row.get("complaint").asText());
  }

  @Test
  void theTableHasEveryRow() {
    String table = Table.of(Rows.of(List.of(well(), faulty())), Ansi.OFF);
    assertTrue(table.contains("a case: well"), table);
    assertTrue(table.contains("a case: faulty"), table);
    assertTrue(table.contains("2.00 x Redisson"), table);
    assertEquals(2, table.lines().filter(line -> line.startsWith("  Redisson")).count(), table);
  }

  /** The histograms of the samples round the longest time, 2,000 µs, to three digits. */
  @Test
  void theTablesInMarkdownHaveTheSameRows() {
    String tables = MarkdownTables.of(Rows.of(List.of(well(), faulty())));
    assertEquals(
        List.of(
            "## `a case`",
            "",
            "|  |  | operations/s | × Redisson | p50, µs | p99, µs | longest, µs"
                + " | commands/operation | `p50_ratio_to_baseline` | `p50_ratio_to_redisson` |",
            "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
            "| well | Mortise | 200 | 2.00 | 100 | 100 | 1,000 | 2.00 | - | 0.50 |",
            "|  | Redisson | 100 | - | 200 | 200 | 2,001 | 2.00 | - | - |",
            "| faulty | Mortise | 200 | 2.00 | 150 | 150 | 1,500 | 2.00 | 1.50 | 0.75 |",
            "|  | Redisson | 100 | - | 200 | 200 | 2,001 | 2.00 | 1.00 | - |",
            ""),
        tables.lines().toList());
  }

  private static WorkloadResult well() {
    return result(
        "well",
        List.of(sample(100, 100), sample(200, 100), sample(400, 1_000)),
        List.of(sample(50, 200), sample(100, 200), sample(100, 2_000)),
        null);
  }

  private static WorkloadResult faulty() {
    return result(
        "faulty",
        List.of(sample(100, 150), sample(200, 150), sample(400, 1_500)),
        List.of(sample(50, 200), sample(100, 200), sample(100, 2_000)),
        well());
  }

  private static WorkloadResult result(
      String label, List<Sample> ours, List<Sample> theirs, @Nullable WorkloadResult baseline) {
    Workload workload =
        new Workload(
            label,
            Map.of("lock", "plain"),
            8,
            1,
            Map.of(),
            baseline == null ? null : baseline.workload().label());
    return new WorkloadResult(
        "a case",
        workload,
        Map.of(),
        theirs.isEmpty()
            ? Map.of(LockLibrary.MORTISE, ours)
            : Map.of(LockLibrary.MORTISE, ours, LockLibrary.REDISSON, theirs),
        baseline);
  }

  private static Sample sample(double ops, long micros) {
    Latencies latencies = new Latencies();
    latencies.add(micros * 1_000);
    return new Sample(ops, latencies, 2, Map.of("added", 7.0), null);
  }

  private static JsonNode json(List<Map<String, @Nullable Object>> rows) throws Exception {
    return new ObjectMapper().readTree(Json.medians(rows));
  }
}
