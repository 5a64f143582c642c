package io.mortise.it.chaos;

import io.mortise.testkit.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
    OutputDirectory.makeEmpty(DIRECTORY);
    for (Fault fault : Fault.values()) {
      if (!fault.isPossibleHere()) {
        System.out.println("left out, because there is no C compiler: " + fault);
      }
    }
    System.out.println("to repeat: " + settings.command());
    Files.writeString(DIRECTORY.resolve("plan.txt"), settings.command() + "\n" + plan + "\n");
    List<String> violations = new ArrayList<>();
    List<Findings> findings = run(plan, settings, violations);
    String table = FindingsTable.of(findings);
    System.out.println(table);
    Files.writeString(DIRECTORY.resolve("table.md"), table);
    findings.forEach(each -> violations.addAll(each.violations()));
    if (!violations.isEmpty()) {
      throw new AssertionError(
          "the plan of seed %d is in %s; to repeat it: %s%n%s"
              .formatted(
                  settings.seed(), DIRECTORY, settings.command(), String.join("\n", violations)));
    }
  }

  private static List<Findings> run(FaultPlan plan, Settings settings, List<String> violations)
      throws InterruptedException {
    try (RedisServer guarded = RedisServer.start()) {
      List<ChaosRun> runs = new ArrayList<>();
      plan.rounds()
          .forEach(
              (tested, rounds) ->
                  runs.add(
                      new ChaosRun(
                          tested,
                          rounds.iterator(),
                          settings,
                          guarded,
                          DIRECTORY,
                          (servers, clients) -> {})));
      return ChaosRun.runAll(runs, settings.parallel(), violations);
    }
  }
}
