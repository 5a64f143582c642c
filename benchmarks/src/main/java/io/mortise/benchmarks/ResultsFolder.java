package io.mortise.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.benchmarks.cases.BenchmarkCase;
import io.mortise.benchmarks.cases.WorkloadResult;
import io.mortise.benchmarks.report.Charts;
import io.mortise.benchmarks.report.GrowthCharts;
import io.mortise.benchmarks.report.Json;
import io.mortise.benchmarks.report.MarkdownTables;
import io.mortise.benchmarks.report.Table;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Ansi;

/**
 * The folder of the results: medians, all turns, the tables as text and in Markdown, a chart for
 * each case, and for what grows in it.
 */
record ResultsFolder(Path path) {

  /** Writes the files into the folder. Charts need fonts; without them it prints a message. */
  void write(
      List<BenchmarkCase> cases,
      List<WorkloadResult> results,
      List<Map<String, @Nullable Object>> rows,
      String footer,
      PrintWriter err)
      throws IOException {
    Files.writeString(path.resolve("results.json"), Json.medians(rows), UTF_8);
    Files.writeString(path.resolve("turns.json"), Json.turns(results), UTF_8);
    Files.writeString(
        path.resolve("table.txt"), Table.of(rows, Ansi.OFF) + "\n\n" + footer + "\n", UTF_8);
    Files.writeString(path.resolve("tables.md"), MarkdownTables.of(rows) + footer + "\n", UTF_8);
    for (BenchmarkCase each : cases) {
      List<Map<String, @Nullable Object>> its =
          rows.stream().filter(row -> each.name().equals(row.get("case"))).toList();
      try {
        Charts.write(
            each.name() + ": " + each.description(), each.figure(), its, path.resolve(each.name()));
        for (BenchmarkCase.Growth growth : each.growth()) {
          GrowthCharts.write(
              "%s: %s".formatted(each.name(), growth.figure().title()),
              growth,
              its,
              path.resolve(each.name() + "-" + growth.figure().field()));
        }
      } catch (IOException | RuntimeException | LinkageError e) {
        err.printf("bench: no chart of %s: %s%n", each.name(), e);
        err.flush();
      }
    }
  }
}
