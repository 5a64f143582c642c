package io.mortise.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.cli.demo.Metric;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Help.Ansi;

class TableReportTest {
  private static final Path PAGE = Path.of("/tmp/page.html");

  @Test
  void columnsBeginAtTheSamePlace() {
    String table = TableReport.of(Samples.report(false), PAGE, Ansi.OFF);
    int column = column(table, "CHAPTER", "WHAT WAS SEEN");
    assertEquals(column, column(table, "Title of first", "sold 20"));
    assertEquals(column, column(table, "Title of second", "next one in"));
  }

  private static int column(String table, String begin, String word) {
    return table
        .lines()
        .filter(line -> line.startsWith(begin))
        .findFirst()
        .orElseThrow()
        .indexOf(word);
  }

  @Test
  void aChapterThatFailedIsSeen() {
    assertTrue(TableReport.of(Samples.report(false), PAGE, Ansi.OFF).contains("FAILED"));
    assertFalse(TableReport.of(Samples.report(true), PAGE, Ansi.OFF).contains("FAILED"));
  }

  @Test
  void figuresAsideAreLeftToThePage() {
    assertFalse(TableReport.of(Samples.report(true), PAGE, Ansi.OFF).contains("hidden"));
  }

  @Test
  void whatIsComparedIsATable() {
    List<Metric> figures =
        List.of(
            Metric.count("sold", "sold", 20).as("one", "one lock"),
            Metric.count("took", "took", 1000).as("one", "one lock"),
            Metric.count("sold", "sold", 20).as("two", "two"),
            Metric.count("took", "took", 500).as("two", "two"),
            Metric.count("total", "total", 40));
    assertEquals(
        List.of(
            "Title of first        ok            one lock  two",
            "                              sold  20        20",
            "                              took  1000      500",
            "                              total 40",
            "                              Explained."),
        TableReport.of(Samples.reportOf(figures), PAGE, Ansi.OFF)
            .lines()
            .dropWhile(line -> !line.startsWith("Title"))
            .takeWhile(line -> !line.isBlank())
            .map(String::stripTrailing)
            .toList());
  }

  @Test
  void withoutColourThereIsNoControlCharacter() {
    String plain = TableReport.of(Samples.report(true), PAGE, Ansi.OFF);
    assertFalse(plain.contains("\u001b"));
    assertTrue(TableReport.of(Samples.report(true), PAGE, Ansi.ON).contains("\u001b"));
  }

  @Test
  void noLineIsWiderThanTheTable() {
    String table = TableReport.of(Samples.report(true), PAGE, Ansi.OFF);
    assertTrue(table.lines().limit(8).allMatch(line -> line.length() <= 100), table);
  }

  @Test
  void thePageIsNamed() {
    assertTrue(TableReport.of(Samples.report(true), PAGE, Ansi.OFF).contains("/tmp/page.html"));
  }
}
