package io.mortise.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.benchmarks.cases.BenchmarkCase;
import io.mortise.benchmarks.cases.Cases;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
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

  private int run(String... arguments) {
    CommandLine command = Main.commandLine();
    command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    return command.execute(arguments);
  }
}
