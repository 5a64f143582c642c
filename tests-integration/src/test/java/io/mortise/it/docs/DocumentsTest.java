package io.mortise.it.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The lengths of README.md, and of the lines of all documents but those with results. */
class DocumentsTest {
  private static final Path ROOT = Path.of("..");
  private static final Path README = ROOT.resolve("README.md");
  private static final Path DOCUMENTS = ROOT.resolve("docs");
  private static final Path RESULTS = DOCUMENTS.resolve("results");
  private static final int MAX_CHARACTERS = 120;
  private static final int MAX_LINES_OF_README = 150;

  /** Begins and ends a block of code. */
  private static final Pattern FENCE = Pattern.compile(" *(```|~~~).*");

  /**
   * A line that may be longer: a row of a table, code by its indent, or one word, as a link with a
   * name without blanks, behind what marks an item.
   */
  private static final Pattern UNBREAKABLE =
      Pattern.compile("\\|.*|    .*| *(?:(?:[-*>]|\\d+\\.) +)?\\S+");

  private static List<Path> documents() throws IOException {
    List<Path> documents = new ArrayList<>(List.of(README));
    try (Stream<Path> files = Files.walk(DOCUMENTS)) {
      files
          .filter(file -> file.toString().endsWith(".md") && !file.startsWith(RESULTS))
          .sorted()
          .forEach(documents::add);
    }
    assertTrue(documents.size() > 50, documents::toString);
    return documents;
  }

  private static List<Integer> longLines(List<String> lines) {
    List<Integer> found = new ArrayList<>();
    boolean code = false;
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      if (FENCE.matcher(line).matches()) {
        code = !code;
      } else if (!code
          && line.codePointCount(0, line.length()) > MAX_CHARACTERS
          && !UNBREAKABLE.matcher(line).matches()) {
        found.add(i + 1);
      }
    }
    assertTrue(!code, "a block of code does not end");
    return found;
  }

  @Test
  void noLineIsLongerThanAScreenIsWide() throws Exception {
    List<String> found = new ArrayList<>();
    for (Path document : documents()) {
      longLines(Files.readAllLines(document))
          .forEach(line -> found.add(ROOT.relativize(document) + ":" + line));
    }
    assertEquals(List.of(), found);
  }

  @Test
  void theReadmeIsShort() throws Exception {
    int lines = Files.readAllLines(README).size();
    assertTrue(lines <= MAX_LINES_OF_README, () -> lines + " lines");
  }

  /** Each is longer than 120 characters with the word that takes the place of {@code LONG}. */
  @ParameterizedTest
  @ValueSource(strings = {"a LONG", "- a LONG", "  a LONG", "[a LONG](b)", "see [a](LONG)"})
  void aLineThatCanBeBrokenIsFound(String line) {
    assertEquals(List.of(1), longLines(List.of(withLongWord(line))));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"[a](LONG)", "- [a](LONG)", "  3. LONG", "> LONG", "| a LONG |", "    a LONG"})
  void aLineThatCannotBeBrokenMayBeLonger(String line) {
    assertEquals(List.of(), longLines(List.of(withLongWord(line))));
  }

  @Test
  void codeMayBeLongerAndTheTextBehindItMayNot() {
    String text = withLongWord("a LONG");
    assertEquals(List.of(4), longLines(List.of("```java", text, "```", text)));
  }

  private static String withLongWord(String line) {
    return line.replace("LONG", "x".repeat(MAX_CHARACTERS));
  }
}
