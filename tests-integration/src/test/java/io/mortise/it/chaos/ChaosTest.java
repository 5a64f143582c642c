package io.mortise.it.chaos;

import io.mortise.it.chaos.Findings.Result;
import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * All locks under faults at random, for as long as {@link Settings#fromProperties} says, judged by
 * what their holders believed and what they wrote. The plan, and a table of the findings, are in
 * {@code target/chaos}. See {@code docs/reliability.md}.
 */
@Tag("chaos")
class ChaosTest {
  private static final Path DIRECTORY = Path.of("target", "chaos");

  @Test
  void theLocksKeepWhatTheyPromiseWhateverBefallsThem() throws Exception {
    Settings settings = Settings.fromProperties();
    FaultPlan plan = FaultPlan.of(settings);
    prepare();
    System.out.println("to repeat: " + settings.command());
    Files.writeString(DIRECTORY.resolve("plan.txt"), settings.command() + "\n" + plan + "\n");
    List<Findings> findings = new ArrayList<>();
    List<String> violations = new ArrayList<>();
    ExecutorService lanes = Executors.newFixedThreadPool(settings.parallel());
    try (RedisServer guarded = RedisServer.start()) {
      List<Future<Findings>> proofs = new ArrayList<>();
      for (Map.Entry<TestedLock, List<Round>> each : plan.rounds().entrySet()) {
        ChaosRun proof =
            new ChaosRun(
                each.getKey(), each.getValue(), settings, guarded, DIRECTORY.toAbsolutePath());
        proofs.add(lanes.submit(proof::run));
      }
      for (Future<Findings> each : proofs) {
        try {
          findings.add(each.get());
          System.out.println(
              FindingsTable.of(findings.subList(findings.size() - 1, findings.size())));
        } catch (ExecutionException e) {
          e.getCause().printStackTrace(System.out);
          violations.add("a proof broke off: " + e.getCause());
        }
      }
    } finally {
      lanes.shutdownNow();
    }
    String table = FindingsTable.of(findings);
    System.out.println(table);
    Files.writeString(DIRECTORY.resolve("table.md"), table);
    for (Findings each : findings) {
      each.results().stream().map(Result::violations).forEach(violations::addAll);
      each.left().forEach(thing -> violations.add(each.subject() + " left behind: " + thing));
    }
    if (!violations.isEmpty()) {
      throw new AssertionError(
          "the plan of seed %d is in %s; to repeat it: %s%n%s"
              .formatted(
                  settings.seed(),
                  DIRECTORY.toAbsolutePath(),
                  settings.command(),
                  String.join("\n", violations)));
    }
  }

  /** Of an earlier run nothing is left. */
  private static void prepare() throws IOException {
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
