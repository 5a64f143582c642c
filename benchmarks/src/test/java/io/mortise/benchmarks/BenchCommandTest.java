package io.mortise.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.benchmarks.cases.BenchmarkCase;
import io.mortise.benchmarks.cases.Cases;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The options and the help of the command. */
class BenchCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void theHelpSaysHowLongEachCaseTakes() {
    assertEquals(0, run("--help"));
    for (BenchmarkCase each : Cases.all()) {
      String begin = "%-14s %2d min".formatted(each.name(), each.fullTime().toMinutes());
      assertTrue(out.toString().contains(begin), () -> begin + " is missing in:\n" + out);
    }
    String onOneLine = out.toString().replaceAll("\\s+", " "); // long lines are wrapped
    assertTrue(onOneLine.contains("readers with 10 % writers"), out::toString);
  }

  @Test
  void theListHasEveryCase() {
    assertEquals(0, run("--list"));
    assertEquals(
        Cases.all().stream().map(BenchCommand::line).toList(), out.toString().lines().toList());
  }

  @Test
  void aCaseThatThereIsNotIsRefused() {
    assertEquals(2, run("--case", "crowds"));
    assertTrue(err.toString().contains("readers-many"), err::toString);
  }

  @Test
  void renewalsOfNoHoldsAreRefused() {
    assertEquals(2, run("--case", "renewals", "--holds", "0"));
    assertTrue(err.toString().contains("--holds must be at least 1"), err::toString);
  }

  @Test
  void moreHoldsThanAProcessHasHeapForAreRefused() {
    assertEquals(2, run("--case", "renewals", "--holds", "2000000000"));
    assertTrue(err.toString().contains("at most 3,000,000"), err::toString);
  }

  @Test
  void sizesOfACaseThatIsNotMeasuredAreRefused() {
    assertEquals(2, run("--case", "multi", "--holds", "1000000"));
    assertTrue(err.toString().contains("'renewals'"), err::toString);
  }

  @Test
  void aFileThatCannotBeWrittenIsRefusedBeforeTheRun(@TempDir Path folder) throws Exception {
    assertEquals(2, run("--json", folder.resolve("none").resolve("medians.json").toString()));
    assertEquals(2, run("--json", folder.toString()));
    assertTrue(err.toString().contains("--json"), err::toString);
    assertEquals(2, run("--results", Files.createFile(folder.resolve("file")).toString()));
    assertTrue(err.toString().contains("of the results"), err::toString);
  }

  private int run(String... arguments) {
    CommandLine command = Main.commandLine();
    command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    return command.execute(arguments);
  }
}
