package io.mortise.it.chaos;

import io.mortise.it.chaos.Findings.Result;
import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * All locks under random faults, for as long as {@link Settings#fromProperties} says, judged by
 * what their holders believed and what they wrote. The plan and a table of the findings are in
 * {@code target/chaos}. See {@code docs/reliability.md}.
 */
@Tag("chaos")
class ChaosTest {
  private static final Path DIRECTORY = Path.of("target", "chaos").toAbsolutePath();

  @Test
  void everyLockKeepsItsGuaranteesUnderAllFaults() throws Exception {
    Settings settings = Settings.fromProperties();
    FaultPlan plan = FaultPlan.of(settings);
    createEmptyDirectory();
    System.out.println("to repeat: " + settings.command());
    Files.writeString(DIRECTORY.resolve("plan.txt"), settings.command() + "\n" + plan + "\n");
    List<String> violations = new ArrayList<>();
    List<Findings> findings = run(plan, settings, violations);
    String table = FindingsTable.of(findings);
    System.out.println(table);
    Files.writeString(DIRECTORY.resolve("table.md"), table);
    for (Findings each : findings) {
      each.results().stream().map(Result::violations).forEach(violations::addAll);
      each.left().forEach(thing -> violations.add(each.tested() + " left behind: " + thing));
    }
    if (!violations.isEmpty()) {
      throw new AssertionError(
          "the plan of seed %d is in %s; to repeat it: %s%n%s"
              .formatted(
                  settings.seed(), DIRECTORY, settings.command(), String.join("\n", violations)));
    }
  }

  private static List<Findings> run(FaultPlan plan, Settings settings, List<String> violations)
      throws InterruptedException {
    List<Findings> findings = new ArrayList<>();
    ExecutorService executor = Executors.newFixedThreadPool(settings.parallel());
    try (RedisServer guarded = RedisServer.start()) {
      List<Future<Findings>> runs = new ArrayList<>();
      plan.rounds()
          .forEach(
              (tested, rounds) ->
                  runs.add(
                      executor.submit(
                          new ChaosRun(tested, rounds, settings, guarded, DIRECTORY)::run)));
      for (Future<Findings> run : runs) {
        try {
          findings.add(run.get());
          System.out.println(FindingsTable.of(List.of(run.get())));
        } catch (ExecutionException e) {
          e.getCause().printStackTrace(System.out);
          violations.add("a run failed: " + e.getCause());
        }
      }
    } finally {
      executor.shutdownNow();
    }
    return findings;
  }

  private static void createEmptyDirectory() throws IOException {
    if (Files.exists(DIRECTORY)) {
      try (Stream<Path> files = Files.walk(DIRECTORY)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
    Files.createDirectories(DIRECTORY);
  }
}
