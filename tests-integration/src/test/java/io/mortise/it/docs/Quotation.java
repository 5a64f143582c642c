package io.mortise.it.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** A class, or a marked part of one, that a document quotes. */
final class Quotation {
  /** The beginning of the line before a part; its name follows. */
  static final String SNIPPET = "  // snippet: ";

  private static final String END = "  // end";

  private Quotation() {}

  /** Returns the text of {@code File.java}, from its class on, or of {@code File.java: snippet}. */
  static String of(Path folder, String source) throws IOException {
    String[] parts = source.split(": ", 2);
    List<String> lines = Files.readAllLines(folder.resolve(parts[0]));
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
