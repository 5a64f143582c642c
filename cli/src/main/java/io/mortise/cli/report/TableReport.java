package io.mortise.cli.report;

import io.mortise.cli.demo.ChapterReport;
import io.mortise.cli.demo.DemoReport;
import io.mortise.cli.demo.DemoSettings;
import io.mortise.cli.demo.Metric;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.Column;
import picocli.CommandLine.Help.Column.Overflow;
import picocli.CommandLine.Help.TextTable;

/** The table that the demo prints at its end. */
public final class TableReport {
  private static final int CHAPTER_WIDTH = 22;
  private static final int RESULT_WIDTH = 8;
  private static final int SEEN_WIDTH = 70;

  private TableReport() {}

  /**
   * Returns the whole text.
   *
   * @param page the file of the page
   */
  public static String of(DemoReport report, Path page, Ansi ansi) {
    TextTable table =
        TextTable.forColumns(
            Help.defaultColorScheme(ansi),
            new Column(CHAPTER_WIDTH, 0, Overflow.WRAP),
            new Column(RESULT_WIDTH, 0, Overflow.TRUNCATE),
            new Column(SEEN_WIDTH, 0, Overflow.WRAP));
    table.addRowValues(bold(ansi, "CHAPTER"), bold(ansi, "RESULT"), bold(ansi, "WHAT WAS SEEN"));
    report.chapters().forEach(chapter -> add(table, chapter, ansi));

    DemoSettings settings = report.settings();
    return """

        %s

        A stock of %d, sold by %d processes of %d threads on %s; %.1f s in all.
        Who held the lock when: %s"""
        .formatted(
            table.toString().stripTrailing(),
            settings.stock(),
            settings.processes(),
            settings.threads(),
            report.redis(),
            report.took().toMillis() / 1e3,
            page);
  }

  private static void add(TextTable table, ChapterReport chapter, Ansi ansi) {
    boolean ok = chapter.outcome().ok();
    List<String> seen = new ArrayList<>(Comparison.lines(headlines(chapter, true)));
    seen.addAll(figures(headlines(chapter, false)));
    seen.add(chapter.outcome().explanation());
    table.addRowValues(
        ansi.new Text(chapter.title()),
        ansi.new Text(ok ? "@|bold,green ok|@" : "@|bold,red FAILED|@"),
        ansi.new Text(seen.get(0)));
    seen.stream().skip(1).forEach(line -> table.addRowValues("", "", line));
    table.addEmptyRow();
  }

  private static Ansi.Text bold(Ansi ansi, String text) {
    return ansi.new Text("@|bold " + text + "|@");
  }

  private static List<Metric> headlines(ChapterReport chapter, boolean compared) {
    return chapter.outcome().figures().stream()
        .filter(Metric::headline)
        .filter(figure -> !figure.of().isEmpty() == compared)
        .toList();
  }

  /** Returns one line, or none if there is no figure. */
  private static List<String> figures(List<Metric> figures) {
    String line =
        figures.stream()
            .map(figure -> figure.label() + " " + figure.text())
            .collect(Collectors.joining(", "));
    return line.isEmpty() ? List.of() : List.of(line);
  }
}
