package io.mortise.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The launcher of a checkout that has not been built. */
@Timeout(60)
class LauncherTest {
  private static final Path BIN = Path.of("..", "bin");

  @Test
  void aCheckoutThatCannotBeBuiltEndsWithTheStatusForThat(@TempDir Path checkout) throws Exception {
    Path bin = Files.createDirectory(checkout.resolve("bin"));
    for (String file : new String[] {"mortise", "launcher.sh"}) {
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
    assertEquals(Main.COULD_NOT_RUN, launcher.waitFor(), said);
    assertTrue(said.contains("cannot be written to"), said);
  }
}
