package io.mortise.artefacts;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The class path of this application without its tests: its classes and the jars of a repository.
 */
final class ClassPath {
  private ClassPath() {}

  static List<Path> entries() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
        .map(Path::of)
        .filter(entry -> !entry.endsWith("test-classes"))
        .toList();
  }

  static String joined() {
    return entries().stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
  }

  /** Runs a program, which has to say in its last line that every lock works. */
  static void assertEveryLockWorks(Path directory, String... command) throws Exception {
    Path output = directory.resolve("output");
    run(output, 1, command);
    List<String> lines = Files.readAllLines(output, UTF_8);
    assertTrue(lines.size() > 0, () -> String.join(" ", command));
    assertEquals("every lock works", lines.get(lines.size() - 1), () -> String.join("\n", lines));
  }

  /** Runs a program to its end, which has to be a success within the given minutes. */
  static void run(Path output, long minutes, String... command) throws Exception {
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertTrue(process.waitFor(minutes, TimeUnit.MINUTES), () -> "did not end: " + command[0]);
    } finally {
      process.destroyForcibly();
    }
    assertEquals(0, process.exitValue(), Files.readString(output, UTF_8));
  }
}
