package io.mortise.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.benchmarks.cases.BenchmarkCase;
import io.mortise.benchmarks.cases.BenchmarkSettings;
import io.mortise.benchmarks.cases.Cases;
import io.mortise.benchmarks.cases.WorkloadResult;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.report.CaseProgressDisplay;
import io.mortise.benchmarks.report.Json;
import io.mortise.benchmarks.report.Rows;
import io.mortise.benchmarks.report.Table;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code bench}: reads the options, runs the cases, reports. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Measures Mortise beside Redisson and beside bare Redis commands, on its own Redis servers"
            + " and in its own processes, in turn, round by round.",
    subcommands = JmhCommand.class,
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
      "0:all cases were measured",
      "1:a lock of Mortise failed, was lost, or had two holders at once",
      "2:the options are wrong",
      "3:the benchmark could not run"
    })
public final class BenchCommand implements Callable<Integer> {
  private static final int LOCK_FAILED = 1;
  private static final double MILLIS_PER_SECOND = 1e3;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec spec;

  @Option(
      names = "--case",
      paramLabel = "NAME",
      completionCandidates = CaseNames.class,
      description = "Measure only this one; may be repeated. One of ${COMPLETION-CANDIDATES}.")
  private List<String> names = new ArrayList<>();

  @Option(names = "--quick", description = "Short turns and small sizes: about 10 s a case.")
  private boolean quick;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "5",
      description =
          "Rounds, at least 5; in each, every library has a turn. Default: ${DEFAULT-VALUE}.")
  private int rounds;

  @Option(
      names = "--holds",
      paramLabel = "N",
      description =
          "Also measure renewals with that many holds, such as 1000000 (10 minutes more)."
              + " May be repeated.")
  private List<Integer> holds = new ArrayList<>();

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description =
          "Also write the medians and ratios to this file, as a list of objects; - is standard output.")
  private @Nullable Path json;

  @Option(
      names = "--results",
      paramLabel = "FOLDER",
      description = "The folder of JSON and charts. Default: benchmarks/results/<time>.")
  private @Nullable Path folder;

  @Option(
      names = "--list",
      description = "List the cases, with the time that each takes, and exit.")
  private boolean list;

  @Override
  public Integer call() throws InterruptedException, IOException {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    if (list) {
      Cases.all().forEach(each -> out.printf("%s%n", line(each)));
      out.flush();
      return 0;
    }
    List<BenchmarkCase> cases = cases();
    BenchmarkSettings settings = settings(cases);
    requireFolderOfJson();
    ResultsFolder kept = new ResultsFolder(folder == null ? byDefault() : folder);
    create(kept); // before the time is spent
    long start = System.nanoTime();
    String machine = Machine.describe();
    Benchmark benchmark = new Benchmark(settings, name -> CaseProgressDisplay.of(name, err));
    List<WorkloadResult> results = new ArrayList<>();
    List<Map<String, @Nullable Object>> rows = List.of();
    String footer = machine;
    for (BenchmarkCase each : cases) {
      results.addAll(benchmark.run(each));
      rows = Rows.of(results);
      footer =
          "%s; up to %d rounds%s, %.0f s in all."
              .formatted(
                  machine,
                  settings.rounds(),
                  quick ? ", quick" : "",
                  Duration.ofNanos(System.nanoTime() - start).toMillis() / MILLIS_PER_SECOND);
      // After each case: a run that is interrupted keeps its results.
      kept.write(cases, results, rows, footer, err);
    }
    report(rows, footer, kept, out);
    return failed(results) ? LOCK_FAILED : 0;
  }

  private void report(
      List<Map<String, @Nullable Object>> rows, String footer, ResultsFolder kept, PrintWriter out)
      throws IOException {
    if (json != null && json.toString().equals("-")) {
      out.print(Json.medians(rows));
    } else {
      if (json != null) {
        Files.writeString(json, Json.medians(rows), UTF_8);
      }
      out.printf(
          "%n%s%n%n%s%nCharts, medians and every turn: %s%n",
          Table.of(rows, spec.commandLine().getColorScheme().ansi()), footer, kept.path());
    }
    out.flush();
  }

  /** Only a failure of Mortise fails the run; those of Redisson are shown. */
  private static boolean failed(List<WorkloadResult> results) {
    return results.stream()
        .anyMatch(
            result ->
                Arrays.stream(LockLibrary.values())
                    .filter(LockLibrary::isMortise)
                    .anyMatch(library -> result.complaint(library).isPresent()));
  }

  private List<BenchmarkCase> cases() {
    try {
      List<BenchmarkCase> chosen = names.stream().map(Cases::named).distinct().toList();
      return chosen.isEmpty() ? Cases.all() : chosen;
    } catch (IllegalArgumentException e) {
      throw wrong(e);
    }
  }

  private BenchmarkSettings settings(List<BenchmarkCase> cases) {
    try {
      if (!holds.isEmpty() && cases.stream().noneMatch(BenchmarkCase::usesMoreHolds)) {
        throw new IllegalArgumentException(
            "--holds is a size of the case 'renewals', which is not among those to measure");
      }
      return quick
          ? BenchmarkSettings.quick(rounds, holds)
          : BenchmarkSettings.thorough(rounds, holds);
    } catch (IllegalArgumentException e) {
      throw wrong(e);
    }
  }

  private void create(ResultsFolder kept) {
    try {
      Files.createDirectories(kept.path());
    } catch (IOException e) {
      throw wrong(
          new IllegalArgumentException(
              "the folder '%s' of the results cannot be made".formatted(kept.path()), e));
    }
  }

  private void requireFolderOfJson() {
    if (json != null && !json.toString().equals("-")) {
      Path parent = json.toAbsolutePath().getParent();
      if (Files.isDirectory(json) || parent == null || !Files.isDirectory(parent)) {
        throw wrong(
            new IllegalArgumentException(
                "--json '%s' is a folder, or in a folder that there is not".formatted(json)));
      }
    }
  }

  /** A line of the list: the name, how long it takes without {@code --quick}, what it measures. */
  static String line(BenchmarkCase each) {
    return "%-14s %2d min  %s"
        .formatted(each.name(), each.fullTime().toMinutes(), each.description());
  }

  private static Path byDefault() {
    return Path.of(System.getProperty("mortise.root", "."), "benchmarks", "results")
        .resolve(
            LocalDateTime.now(ZoneId.systemDefault())
                .format(DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss")))
        .normalize();
  }

  private ParameterException wrong(IllegalArgumentException e) {
    return new ParameterException(spec.commandLine(), e.getMessage(), e);
  }

  /** The names of all cases, for the help. */
  static final class CaseNames implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return Cases.all().stream().map(BenchmarkCase::name).iterator();
    }
  }
}
