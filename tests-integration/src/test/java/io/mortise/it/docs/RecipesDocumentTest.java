package io.mortise.it.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Each block of Java in docs/recipes.md is a class of the recipes, or a marked part of one. */
class RecipesDocumentTest {
  private static final String DOCUMENT = "docs/recipes.md";
  private static final Path RECIPES = Path.of("src/test/java/io/mortise/it/recipes");
  private static final String SNIPPET = "  // snippet: ";
  private static final String END = "  // end";

  @Test
  void everyBlockIsWhatItsSourceSays() throws Exception {
    List<Sample> samples = Sample.of(DOCUMENT);
    assertTrue(!samples.isEmpty(), DOCUMENT);
    for (Sample sample : samples) {
      String source =
          sample.source().orElseThrow(() -> new AssertionError(sample + " names no source"));
      assertEquals(quoted(source), sample.text(), () -> sample + " differs from " + source);
    }
  }

  @Test
  void everySnippetIsQuoted() throws Exception {
    Set<String> quoted =
        Sample.of(DOCUMENT).stream()
            .flatMap(sample -> sample.source().stream())
            .collect(Collectors.toSet());
    Set<String> marked = new TreeSet<>();
    try (var files = Files.list(RECIPES)) {
      for (Path file : files.toList()) {
        for (String line : Files.readAllLines(file)) {
          if (line.startsWith(SNIPPET)) {
            marked.add(file.getFileName() + ": " + line.substring(SNIPPET.length()));
          }
        }
      }
    }
    assertTrue(quoted.containsAll(marked), () -> marked + " and only " + quoted);
    assertTrue(!marked.isEmpty());
  }

  /** Returns the text of {@code File.java}, from its class on, or of {@code File.java: snippet}. */
  private static String quoted(String source) throws Exception {
    String[] parts = source.split(": ", 2);
    List<String> lines = Files.readAllLines(RECIPES.resolve(parts[0]));
    return parts.length == 1 ? type(lines) : snippet(lines, parts[1]);
  }

  private static String type(List<String> lines) {
    return lines.stream()
        .dropWhile(line -> !line.matches("(final )?class .*"))
        .collect(Collectors.joining("\n"));
  }

  /** Without the indentation of the class, and without the empty line before the end. */
  private static String snippet(List<String> lines, String name) {
    return lines.stream()
        .dropWhile(line -> !line.equals(SNIPPET + name))
        .skip(1)
        .takeWhile(line -> !line.equals(END))
        .map(line -> line.isEmpty() ? line : line.substring(2))
        .collect(Collectors.joining("\n"))
        .stripTrailing();
  }
}
