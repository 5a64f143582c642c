package io.mortise.benchmarks.report;

import io.mortise.benchmarks.cases.WorkloadResult;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.measure.Medians;
import io.mortise.benchmarks.measure.Sample;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The results as rows, one for each library of each workload: the fields of every row, the
 * dimensions of the workload, the ratios, and the figures of the case. A field that was not
 * measured is null.
 */
public final class Rows {
  private static final double DECIMALS = 1e3;

  private Rows() {}

  /** All rows, in the order of the cases. */
  public static List<Map<String, @Nullable Object>> of(List<WorkloadResult> results) {
    List<Map<String, @Nullable Object>> rows = new ArrayList<>();
    for (WorkloadResult result : results) {
      result.samples().keySet().forEach(library -> rows.add(row(result, library)));
    }
    return rows;
  }

  private static Map<String, @Nullable Object> row(WorkloadResult result, LockLibrary library) {
    List<Sample> samples = result.of(library);
    Map<String, @Nullable Object> row = new LinkedHashMap<>();
    row.put("case", result.caseName());
    row.put("subject", library.label());
    row.put("threads", result.workload().threads());
    row.put("processes", result.workload().processes());
    row.put("ops_per_s", number(Medians.of(samples, Sample::opsPerSecond)));
    row.put("p50_us", number(Medians.of(samples, Sample::p50Micros)));
    row.put("p99_us", number(Medians.of(samples, Sample::p99Micros)));
    row.put(
        "max_us",
        number(
            samples.stream()
                .mapToDouble(sample -> sample.latencies().maxMicros())
                .max()
                .orElse(Double.NaN)));
    row.put("redis_commands_per_op", number(Medians.of(samples, Sample::commandsPerOp)));
    row.put("contest", result.workload().label());
    row.putAll(result.workload().dimensions());
    row.put("rounds", samples.size());
    addRatios(row, result, library);
    addFigures(row, samples);
    result.complaint(library).ifPresent(complaint -> row.put("complaint", complaint));
    return row;
  }

  /** Adds the ratios of Mortise to the others, and of each library to its own baseline. */
  private static void addRatios(
      Map<String, @Nullable Object> row, WorkloadResult result, LockLibrary library) {
    List<Sample> samples = result.of(library);
    if (library == LockLibrary.MORTISE) {
      for (LockLibrary other : result.samples().keySet()) {
        if (other == LockLibrary.MORTISE) {
          continue;
        }
        List<Sample> others = result.of(other);
        put(row, "ratio_to_" + other.label(), samples, others, Sample::opsPerSecond);
        put(row, "p50_ratio_to_" + other.label(), samples, others, Sample::p50Micros);
      }
    }
    WorkloadResult baseline = result.baseline();
    if (baseline != null) {
      row.put("baseline", baseline.workload().label());
      put(row, "p50_ratio_to_baseline", samples, baseline.of(library), Sample::p50Micros);
    }
  }

  private static void put(
      Map<String, @Nullable Object> row,
      String field,
      List<Sample> samples,
      List<Sample> others,
      ToDoubleFunction<Sample> figure) {
    Double ratio = number(Medians.ofRatios(samples, others, figure));
    if (ratio != null) {
      row.put(field, ratio);
    }
  }

  private static void addFigures(Map<String, @Nullable Object> row, List<Sample> samples) {
    TreeSet<String> names = new TreeSet<>();
    samples.forEach(sample -> names.addAll(sample.figures().keySet()));
    for (String name : names) {
      row.put(
          name,
          number(Medians.of(samples, sample -> sample.figures().getOrDefault(name, Double.NaN))));
    }
  }

  /** Three decimals; JSON has no NaN. */
  private static @Nullable Double number(double value) {
    return Double.isFinite(value) ? Math.round(value * DECIMALS) / DECIMALS : null;
  }
}
