package io.mortise.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.cli.options.ExitStatus;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The launcher where it cannot start the program, and with which streams it starts Java. */
@Timeout(60)
class LauncherTest {
  private static final Path BIN = Path.of("..", "bin");

  @Test
  void aCheckoutThatCannotBeBuiltEndsWithTheStatusForThat(@TempDir Path checkout) throws Exception {
    Path bin = Files.createDirectory(checkout.resolve("bin"));
    for (String file : new String[] {"mortise", "launcher.sh", "java.sh"}) {
      Files.copy(BIN.resolve(file), bin.resolve(file));
    }
    // Where a folder cannot be made; root could make one in a folder that is read-only.
    Files.createDirectory(checkout.resolve("cli"));
    Files.createFile(checkout.resolve("cli/target"));

    Process launcher =
        new ProcessBuilder("/bin/sh", bin.resolve("mortise").toString(), "--help")
            .redirectErrorStream(true)
            .start();
    String said = new String(launcher.getInputStream().readAllBytes(), UTF_8);
    assertEquals(ExitStatus.COULD_NOT_RUN, launcher.waitFor(), said);
    assertTrue(said.contains("cannot be written to"), said);
  }

  @ParameterizedTest
  @CsvSource({"--help, 3", "run, 125"})
  void aFolderWithAColonIsRefused(String argument, int status, @TempDir Path parent)
      throws Exception {
    Path root = parent.resolve("at 10:30");
    Path bin = Files.createDirectories(root.resolve("bin"));
    Path lib = Files.createDirectory(root.resolve("lib"));
    Files.copy(BIN.resolve("mortise"), bin.resolve("mortise"));
    Files.copy(BIN.resolve("java.sh"), lib.resolve("java.sh"));
    Files.createFile(root.resolve("mortise-cli.jar"));

    Process launcher =
        new ProcessBuilder("/bin/sh", bin.resolve("mortise").toString(), argument)
            .redirectErrorStream(true)
            .start();
    String said = new String(launcher.getInputStream().readAllBytes(), UTF_8);
    assertEquals(status, launcher.waitFor(), said);
    assertTrue(said.startsWith("mortise: there is a colon in the path of its folder"), said);
    assertEquals(1, said.lines().count(), said);
  }

  /** A shell makes the bytes of the folder: a test in the locale C could not. */
  @ParameterizedTest
  @CsvSource({"--help, 3", "run, 125"})
  void aFolderThatTheLocaleCannotExpressIsRefused(String argument, int status, @TempDir Path parent)
      throws Exception {
    String script =
        """
        root=$1/$(printf 'caf\\303\\251')
        mkdir -p "$root/bin" "$root/lib" && cp "$2/mortise" "$root/bin" && cp "$2/java.sh" "$root/lib"
        exec /bin/sh "$root/bin/mortise" "$3"
        """;
    ProcessBuilder builder =
        new ProcessBuilder(
                "/bin/sh", "-c", script, "sh", parent.toString(), BIN.toString(), argument)
            .redirectErrorStream(true);
    builder.environment().put("LC_ALL", "C");
    Process launcher = builder.start();
    String said = new String(launcher.getInputStream().readAllBytes(), UTF_8);
    assertEquals(status, launcher.waitFor(), said);
    assertTrue(said.startsWith("mortise: the path of its folder has characters"), said);
    assertEquals(1, said.lines().count(), said);
  }

  /** Otherwise Java's next file becomes the stream, and a command reads the modules of the JDK. */
  @ParameterizedTest
  @ValueSource(strings = {"<&-", ">&-", "2>&-", "<&- >&- 2>&-"})
  void aStandardStreamThatIsClosedIsAnEmptyOneForJava(String closing, @TempDir Path root)
      throws Exception {
    Path bin = Files.createDirectory(root.resolve("bin"));
    Path lib = Files.createDirectory(root.resolve("lib"));
    Files.copy(BIN.resolve("mortise"), bin.resolve("mortise"));
    Files.copy(BIN.resolve("java.sh"), lib.resolve("java.sh"));
    Path home = Files.createDirectory(root.resolve("jdk"));
    Files.writeString(home.resolve("release"), "JAVA_VERSION=\"17\"\n");
    Path java = Files.createDirectory(home.resolve("bin")).resolve("java");
    Files.writeString(java, "#!/bin/sh\n{ true 3<&0 4>&1 5>&2; } && cat >\"$JAVA_HOME/read\"\n");
    assertTrue(java.toFile().setExecutable(true));

    String line = "/bin/sh '%s' --help %s".formatted(bin.resolve("mortise"), closing);
    ProcessBuilder launcher = new ProcessBuilder("/bin/sh", "-c", line).redirectErrorStream(true);
    launcher.environment().put("JAVA_HOME", home.toString());
    Process process = launcher.start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);

    assertEquals(0, process.waitFor(), said);
    assertEquals("", said);
    assertEquals("", Files.readString(home.resolve("read")));
  }
}
