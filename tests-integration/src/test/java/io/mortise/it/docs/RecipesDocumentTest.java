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

  @Test
  void everyBlockIsWhatItsSourceSays() throws Exception {
    List<Sample> samples = Sample.of(DOCUMENT);
    assertTrue(!samples.isEmpty(), DOCUMENT);
    for (Sample sample : samples) {
      String source =
          sample.source().orElseThrow(() -> new AssertionError(sample + " names no source"));
      assertEquals(
          Quotation.of(RECIPES, source), sample.text(), () -> sample + " differs from " + source);
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
          if (line.startsWith(Quotation.SNIPPET)) {
            marked.add(file.getFileName() + ": " + line.substring(Quotation.SNIPPET.length()));
          }
        }
      }
    }
    assertTrue(quoted.containsAll(marked), () -> marked + " and only " + quoted);
    assertTrue(!marked.isEmpty());
  }
}
