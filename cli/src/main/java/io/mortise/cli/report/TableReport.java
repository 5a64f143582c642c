package io.mortise.cli.report;

import io.mortise.cli.demo.ChapterReport;
import io.mortise.cli.demo.DemoReport;
import io.mortise.cli.demo.DemoSettings;
import io.mortise.cli.demo.Metric;
import java.nio.file.Path;
import java.util.LinkedHashMap;
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
    table.addRowValues(
        ansi.new Text(chapter.title()),
        ansi.new Text(ok ? "@|bold,green ok|@" : "@|bold,red FAILED|@"),
        ansi.new Text(figures(chapter)));
    table.addRowValues("", "", chapter.outcome().explanation());
    table.addEmptyRow();
  }

  private static Ansi.Text bold(Ansi ansi, String text) {
    return ansi.new Text("@|bold " + text + "|@");
  }

  private static String value(Metric figure) {
    return figure.of().isEmpty() ? figure.text() : "%s (%s)".formatted(figure.text(), figure.of());
  }

  private static String figures(ChapterReport chapter) {
    return chapter.outcome().figures().stream()
        .filter(Metric::headline)
        .collect(
            Collectors.groupingBy(
                Metric::label,
                LinkedHashMap::new,
                Collectors.mapping(TableReport::value, Collectors.joining(" "))))
        .entrySet()
        .stream()
        .map(figure -> figure.getKey() + " " + figure.getValue())
        .collect(Collectors.joining(", "));
  }
}
