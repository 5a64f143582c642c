package io.mortise.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The file of the page; checks before the demo that it can be written. */
final class PageFile {
  /** The default, below the working directory. */
  static final String DEFAULT = "results/mortise-demo.html";

  private final Path path;

  private PageFile(Path path) {
    this.path = path;
  }

  /** The file that the user names. It is replaced if it exists. */
  static PageFile asked(Path path) {
    Path file = path.toAbsolutePath().normalize();
    if (!canBeWritten(file)) {
      throw new IllegalArgumentException(
          "--html: '%s' cannot be written; name a file in a directory that can be".formatted(file));
    }
    return new PageFile(file);
  }

  /** A file in the working directory, or in a new temporary one if that cannot be written. */
  static PageFile byDefault() throws IOException {
    Path file = Path.of(DEFAULT).toAbsolutePath();
    return canBeWritten(file)
        ? new PageFile(file)
        : new PageFile(Files.createTempDirectory("mortise-").resolve(file.getFileName()));
  }

  /** Writes the page and returns its path. */
  Path write(String html) throws IOException {
    return Files.writeString(path, html);
  }

  /** Creates a file to find out: permissions alone do not tell what a file system allows. */
  private static boolean canBeWritten(Path file) {
    if (Files.exists(file) && !(Files.isRegularFile(file) && Files.isWritable(file))) {
      return false;
    }
    try {
      Path directory = Files.createDirectories(file.getParent());
      Files.delete(Files.createTempFile(directory, ".mortise-", ""));
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
