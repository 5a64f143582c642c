package io.mortise.benchmarks.report;

import io.mortise.benchmarks.locks.LockLibrary;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.Column;
import picocli.CommandLine.Help.Column.Overflow;
import picocli.CommandLine.Help.TextTable;

/** The table at the end: a line for each {@link Rows row}, with the figures of the case below. */
public final class Table {
  private static final int WHAT_WIDTH = 22;
  private static final int NUMBER_WIDTH = 12;
  private static final int RATIO_WIDTH = 44;
  private static final int INDENT = 1;

  private static final List<String> NUMBERS =
      List.of("ops_per_s", "p50_us", "p99_us", "max_us", "redis_commands_per_op");

  private Table() {}

  /** The whole text. */
  public static String of(List<Map<String, @Nullable Object>> rows, Ansi ansi) {
    TextTable table =
        TextTable.forColumns(
            Help.defaultColorScheme(ansi),
            new Column(WHAT_WIDTH, 0, Overflow.SPAN),
            new Column(NUMBER_WIDTH, INDENT, Overflow.TRUNCATE),
            new Column(NUMBER_WIDTH, INDENT, Overflow.TRUNCATE),
            new Column(NUMBER_WIDTH, INDENT, Overflow.TRUNCATE),
            new Column(NUMBER_WIDTH, INDENT, Overflow.TRUNCATE),
            new Column(NUMBER_WIDTH, INDENT, Overflow.TRUNCATE),
            new Column(RATIO_WIDTH, INDENT, Overflow.SPAN));
    table.addRowValues(
        "",
        right("ops/s"),
        right("p50 µs"),
        right("p99 µs"),
        right("max µs"),
        right("cmds/op"),
        "ops/s of Mortise");
    Object before = "";
    for (Map<String, @Nullable Object> row : rows) {
      String title = "%s: %s".formatted(row.get("case"), row.get("contest"));
      if (!title.equals(before)) {
        line(table, ansi.new Text("@|bold " + title + "|@"));
        before = title;
      }
      add(table, row, ansi);
    }
    return table.toString().stripTrailing();
  }

  private static void add(TextTable table, Map<String, @Nullable Object> row, Ansi ansi) {
    Ansi.Text[] cells = new Ansi.Text[NUMBERS.size() + 2];
    cells[0] = ansi.new Text("  " + LockLibrary.titleOf(row.get("subject")));
    for (int i = 0; i < NUMBERS.size(); i++) {
      cells[i + 1] = ansi.new Text(right(CaseFigures.text(row.get(NUMBERS.get(i)))));
    }
    cells[cells.length - 1] = ansi.new Text(ratios(row));
    table.addRowValues(cells);
    Map<String, Number> more = CaseFigures.of(row);
    if (!more.isEmpty()) {
      StringBuilder line = new StringBuilder("    ");
      more.forEach(
          (field, value) ->
              line.append(field).append(' ').append(CaseFigures.text(value)).append("  "));
      line(table, ansi.new Text(line.toString()));
    }
    Object complaint = row.get("complaint");
    if (complaint != null) {
      line(table, ansi.new Text("    @|bold,red " + complaint + "|@"));
    }
  }

  private static String ratios(Map<String, @Nullable Object> row) {
    return Arrays.stream(LockLibrary.values())
        .filter(other -> row.get("ratio_to_" + other.label()) != null)
        .map(
            other ->
                "%s x %s"
                    .formatted(
                        CaseFigures.text(row.get("ratio_to_" + other.label())), other.title()))
        .collect(Collectors.joining(", "));
  }

  /** Adds a line over the whole width. */
  private static void line(TextTable table, Ansi.Text text) {
    Ansi.Text[] cells = new Ansi.Text[table.columns().length];
    Arrays.fill(cells, Ansi.OFF.new Text(""));
    cells[0] = text;
    table.addRowValues(cells);
  }

  private static String right(String text) {
    return ("%" + (NUMBER_WIDTH - INDENT) + "s").formatted(text);
  }
}
