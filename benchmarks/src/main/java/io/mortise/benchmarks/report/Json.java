package io.mortise.benchmarks.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.mortise.benchmarks.cases.WorkloadResult;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.measure.Sample;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The results as JSON. */
public final class Json {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Json() {}

  /** A list of objects, one for each {@link Rows row}. */
  public static String medians(List<Map<String, @Nullable Object>> rows) {
    return text(rows);
  }

  /** A list of objects, one for each turn, as it was measured. */
  public static String turns(List<WorkloadResult> results) {
    List<Map<String, @Nullable Object>> turns = new ArrayList<>();
    for (WorkloadResult result : results) {
      result.samples().forEach((library, samples) -> add(turns, result, library, samples));
    }
    return text(turns);
  }

  private static void add(
      List<Map<String, @Nullable Object>> turns,
      WorkloadResult result,
      LockLibrary library,
      List<Sample> samples) {
    for (int round = 0; round < samples.size(); round++) {
      Sample sample = samples.get(round);
      Map<String, @Nullable Object> turn = new LinkedHashMap<>();
      turn.put("case", result.caseName());
      turn.put("contest", result.workload().label());
      turn.put("subject", library.label());
      turn.put("round", round + 1);
      turn.put("ops_per_s", number(sample.opsPerSecond()));
      turn.put("p50_us", number(sample.p50Micros()));
      turn.put("p99_us", number(sample.p99Micros()));
      turn.put("max_us", number(sample.latencies().maxMicros()));
      turn.put("redis_commands_per_op", number(sample.commandsPerOp()));
      sample.figures().forEach((name, value) -> turn.put(name, number(value)));
      if (sample.complaint() != null) {
        turn.put("complaint", sample.complaint());
      }
      turns.add(turn);
    }
  }

  private static @Nullable Double number(double value) {
    return Double.isFinite(value) ? value : null;
  }

  private static String text(Object value) {
    try {
      return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(value) + "\n";
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }
}
