package io.mortise.it.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table of docs/results/mutants-2026-11.md has a row for each mutant. */
class MutantsDocumentTest {
  private static final Path MUTANTS = Path.of("../mutants");
  private static final Path DOCUMENT = Path.of("../docs/results/mutants-2026-11.md");
  private static final String TABLE = "| mutant | defect | caught by | s |";
  private static final Pattern ROW =
      Pattern.compile("\\| `([a-z0-9-]+)` \\| (.+) \\| (.+) \\| (\\d+|–) \\|");
  private static final Pattern TEST_CLASS = Pattern.compile("\\b[A-Z]\\w*Test\\b");

  /** A row of the table. */
  private record Row(String name, String defect, String caughtBy) {
    private static Row of(String line) {
      Matcher row = ROW.matcher(line);
      assertTrue(row.matches(), line);
      return new Row(row.group(1), row.group(2), row.group(3));
    }
  }

  private static List<Row> rows() throws IOException {
    List<Row> rows =
        Files.readAllLines(DOCUMENT).stream()
            .dropWhile(line -> !line.equals(TABLE))
            .skip(2)
            .takeWhile(line -> line.startsWith("|"))
            .map(Row::of)
            .toList();
    assertFalse(rows.isEmpty());
    return rows;
  }

  /** Returns a field of the header of each mutant, by its name. */
  private static Map<String, String> headers(String field) throws IOException {
    Map<String, String> headers = new TreeMap<>();
    try (Stream<Path> patches = Files.list(MUTANTS)) {
      for (Path patch : patches.toList()) {
        String start = field + ": ";
        String line =
            Files.readAllLines(patch).stream()
                .filter(each -> each.startsWith(start))
                .findFirst()
                .orElseThrow(() -> new AssertionError(patch + " has no line " + start));
        headers.put(
            patch.getFileName().toString().replace(".patch", ""), line.substring(start.length()));
      }
    }
    return headers;
  }

  @Test
  void eachMutantHasARowWithItsDefect() throws Exception {
    List<String> expected =
        headers("Defect").entrySet().stream()
            .map(mutant -> mutant.getKey() + ": " + mutant.getValue())
            .toList();
    assertEquals(
        String.join("\n", expected),
        String.join("\n", rows().stream().map(row -> row.name + ": " + row.defect).toList()));
  }

  /** A test that has another name now would be looked for in vain. */
  @Test
  void eachWasCaughtByATestThatItNames() throws Exception {
    Map<String, String> tests = headers("Tests");
    for (Row row : rows()) {
      Matcher caughtBy = TEST_CLASS.matcher(row.caughtBy);
      if (caughtBy.find()) {
        String named = tests.getOrDefault(row.name, "");
        assertTrue(
            TEST_CLASS.matcher(named).results().anyMatch(it -> it.group().equals(caughtBy.group())),
            () -> row + " is not one of " + named);
      }
    }
  }
}
