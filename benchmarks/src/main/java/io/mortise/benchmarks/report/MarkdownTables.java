package io.mortise.benchmarks.report;

import io.mortise.benchmarks.locks.LockLibrary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The results in Markdown: a section with a table for each case, a line for each row. */
public final class MarkdownTables {
  /** What nearly every case has: the field, and its title. */
  private static final Map<String, String> COMMON = new LinkedHashMap<>();

  static {
    COMMON.put("ops_per_s", "operations/s");
    COMMON.put("ratio_to_redisson", "× Redisson");
    COMMON.put("ratio_to_bare_commands", "× bare commands");
    COMMON.put("p50_us", "p50, µs");
    COMMON.put("p99_us", "p99, µs");
    COMMON.put("max_us", "longest, µs");
    COMMON.put("redis_commands_per_op", "commands/operation");
  }

  private MarkdownTables() {}

  /** Returns the whole text. */
  public static String of(List<Map<String, @Nullable Object>> rows) {
    Map<String, List<Map<String, @Nullable Object>>> cases = new LinkedHashMap<>();
    rows.forEach(
        row ->
            cases
                .computeIfAbsent(String.valueOf(row.get("case")), each -> new ArrayList<>())
                .add(row));
    StringBuilder text = new StringBuilder();
    cases.forEach((name, its) -> text.append(section(name, its)));
    return text.toString();
  }

  private static String section(String name, List<Map<String, @Nullable Object>> rows) {
    List<String> fields = new ArrayList<>();
    List<String> titles = new ArrayList<>(List.of("", ""));
    COMMON.forEach(
        (field, title) -> {
          if (rows.stream().anyMatch(row -> row.get(field) != null)) {
            fields.add(field);
            titles.add(title);
          }
        });
    Set<String> more = new TreeSet<>();
    rows.forEach(row -> more.addAll(CaseFigures.of(row).keySet()));
    for (String field : more) {
      fields.add(field);
      titles.add('`' + field + '`');
    }
    StringBuilder text = new StringBuilder("## `%s`\n\n".formatted(name));
    text.append(line(titles)).append("|---|---|").append("--:|".repeat(fields.size())).append('\n');
    Object before = "";
    for (Map<String, @Nullable Object> row : rows) {
      Object contest = row.get("contest");
      List<String> cells = new ArrayList<>();
      cells.add(before.equals(contest) ? "" : String.valueOf(contest));
      cells.add(LockLibrary.titleOf(row.get("subject")));
      fields.forEach(field -> cells.add(CaseFigures.text(row.get(field))));
      text.append(line(cells));
      before = String.valueOf(contest);
    }
    return text.append(complaints(rows)).append('\n').toString();
  }

  private static String complaints(List<Map<String, @Nullable Object>> rows) {
    StringBuilder text = new StringBuilder();
    for (Map<String, @Nullable Object> row : rows) {
      Object complaint = row.get("complaint");
      if (complaint != null) {
        text.append(
            "\n%s, %s: %s\n"
                .formatted(LockLibrary.titleOf(row.get("subject")), row.get("contest"), complaint));
      }
    }
    return text.toString();
  }

  private static String line(List<String> cells) {
    return "| " + String.join(" | ", cells) + " |\n";
  }
}
