package io.mortise.cli.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A command is looked for in the folders of the PATH, as a shell does. */
class CommandLookUpTest {
  @Test
  void theFirstFileThatCanBeExecutedIsFound(@TempDir Path first, @TempDir Path second)
      throws Exception {
    Files.createFile(first.resolve("job"));
    Path executable = executable(second.resolve("job"));

    assertEquals(
        Optional.of(executable), CommandLookUp.onPath("job", first + File.pathSeparator + second));
    assertEquals(Optional.empty(), CommandLookUp.onPath("job", first.toString()));
    assertEquals(Optional.empty(), CommandLookUp.onPath("job", null));
  }

  /** Wherever it stands, an empty folder is the working directory. */
  @ParameterizedTest
  @ValueSource(strings = {":/no-such-folder", "/no-such-folder:", "/no-such-folder::/none", ""})
  void anEmptyFolderIsTheWorkingDirectory(String path) throws Exception {
    Path job = executable(Path.of("target", "job-of-the-working-directory"));
    try {
      assertEquals(
          Optional.of(job),
          CommandLookUp.onPath(job.toString(), path.replace(":", File.pathSeparator)));
    } finally {
      Files.delete(job);
    }
  }

  private static Path executable(Path file) throws Exception {
    assertEquals(true, Files.createFile(file).toFile().setExecutable(true));
    return file;
  }
}
