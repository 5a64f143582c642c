package io.mortise.it.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** The directory into which a run writes. */
final class OutputDirectory {
  private OutputDirectory() {}

  /** Creates the directory, or deletes what an earlier run has left in it. */
  static void makeEmpty(Path directory) throws IOException {
    if (Files.exists(directory)) {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
    Files.createDirectories(directory);
  }
}
