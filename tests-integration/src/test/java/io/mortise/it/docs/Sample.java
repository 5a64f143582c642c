package io.mortise.it.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A block of Java in a document, between the lines <code>```java</code> and <code>```</code>.
 *
 * @param document the file, from the root of the repository
 * @param firstLine the number of the first line of the text in the document, from 1
 * @param source what the comment before the block says it is quoted from: {@code <!-- Sales.java:
 *     sell -->}
 */
record Sample(String document, int firstLine, Optional<String> source, List<String> lines) {
  private static final Path ROOT = Path.of("..");
  private static final String BEGIN = "```java";
  private static final String END = "```";

  /** Returns the samples of a document of the repository. */
  static List<Sample> of(String document) {
    return of(document, read(document));
  }

  /** Returns the samples of a document with that text. */
  static List<Sample> of(String document, List<String> text) {
    List<Sample> samples = new ArrayList<>();
    for (int line = 0; line < text.size(); line++) {
      if (text.get(line).equals(BEGIN)) {
        List<String> lines =
            text.stream().skip(line + 1L).takeWhile(next -> !next.equals(END)).toList();
        samples.add(new Sample(document, line + 2, source(text, line), lines));
        line += lines.size();
      }
    }
    return samples;
  }

  /** Returns the README and the documents, but not the decisions: these are history. */
  static List<String> documents() {
    try (var files = Files.list(ROOT.resolve("docs"))) {
      List<String> documents =
          files
              .map(file -> "docs/" + file.getFileName())
              .filter(name -> name.endsWith(".md"))
              .sorted()
              .collect(Collectors.toCollection(ArrayList::new));
      documents.add("README.md");
      return documents;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static List<String> read(String document) {
    try {
      return Files.readAllLines(ROOT.resolve(document));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static Optional<String> source(List<String> text, int line) {
    return Optional.of(line > 0 ? text.get(line - 1) : "")
        .filter(before -> before.startsWith("<!-- ") && before.endsWith(" -->"))
        .map(comment -> comment.substring("<!-- ".length(), comment.length() - " -->".length()));
  }

  String text() {
    return String.join("\n", lines);
  }

  @Override
  public String toString() {
    return document + ":" + firstLine;
  }
}
