package io.mortise.cli.run;

import io.mortise.cli.options.CommandFailure;
import io.mortise.cli.options.ExitStatus;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds the file of a command, as a shell does: before the lock is acquired for nothing. */
final class CommandLookUp {
  private CommandLookUp() {}

  /**
   * Checks that the command can be executed.
   *
   * @throws CommandFailure if it is not there, or is no file that may be executed; with the status
   *     that a shell gives it
   */
  static void check(String command) {
    if (!command.contains("/")) {
      if (onPath(command).isEmpty()) {
        throw new CommandFailure(
            ExitStatus.RUN_NOT_FOUND,
            "the command '%s' is not on the PATH; check its name, or give its path%s"
                .formatted(
                    command,
                    folders(System.getenv("PATH"))
                            .allMatch(folder -> file(folder, command).isPresent())
                        ? ""
                        : "; a folder of the PATH has characters that the locale cannot express: set LC_ALL=C.UTF-8"),
            null);
      }
      return;
    }
    Path file = Path.of(command);
    if (!Files.exists(file)) {
      throw new CommandFailure(
          ExitStatus.RUN_NOT_FOUND,
          "there is no command '%s'; check its path".formatted(command),
          null);
    }
    if (!isExecutable(file)) {
      throw new CommandFailure(
          ExitStatus.RUN_NOT_EXECUTABLE,
          "'%s' is no file that may be executed; check its path and its permissions"
              .formatted(command),
          null);
    }
  }

  /** Returns the first file of that name in the folders of the PATH that can be executed. */
  static Optional<Path> onPath(String name) {
    return onPath(name, System.getenv("PATH"));
  }

  static Optional<Path> onPath(String name, @Nullable String path) {
    return name.isEmpty()
        ? Optional.empty()
        : folders(path)
            .flatMap(folder -> file(folder, name).stream())
            .filter(CommandLookUp::isExecutable)
            .findFirst();
  }

  /** An empty one, also the last, is the working directory. */
  private static Stream<String> folders(@Nullable String path) {
    return path == null ? Stream.empty() : Arrays.stream(path.split(File.pathSeparator, -1));
  }

  /** Returns the file; empty in a folder that the locale cannot express, as C one beyond ASCII. */
  private static Optional<Path> file(String folder, String name) {
    try {
      return Optional.of(Path.of(folder, name));
    } catch (InvalidPathException e) {
      return Optional.empty();
    }
  }

  private static boolean isExecutable(Path file) {
    return Files.isRegularFile(file) && Files.isExecutable(file);
  }
}
