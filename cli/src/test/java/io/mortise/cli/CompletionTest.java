package io.mortise.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The completion script, run by bash. */
@Timeout(60)
class CompletionTest {
  @TempDir private Path directory;

  @Test
  void bashCompletesCommands() throws Exception {
    assertTrue(complete("mortise", "r").contains("run"));
    assertEquals(List.of("completion"), complete("mortise", "comp"));
  }

  @Test
  void bashCompletesOptionsOfACommand() throws Exception {
    assertTrue(complete("mortise", "run", "--at").contains("--at-least"));
    assertTrue(complete("mortise", "demo", "--q").contains("--quick"));
  }

  @Test
  void aScriptThatCannotBeWrittenIsStatusThree() throws Exception {
    CommandRun run = CommandRun.onAFullDisk("completion");

    assertEquals(3, run.status());
    assertTrue(run.err().contains("standard output cannot be written"), run::err);
  }

  private List<String> complete(String... words) throws Exception {
    StringWriter script = new StringWriter();
    CommandLine mortise = Main.commandLine().setOut(new PrintWriter(script, true));
    assertEquals(0, mortise.execute("completion"));
    Path file = Files.writeString(directory.resolve("completion"), script.toString());

    String question =
        "source '%s'; COMP_WORDS=(%s); COMP_CWORD=%d; _complete_mortise; printf '%%s\\n' \"${COMPREPLY[@]}\""
            .formatted(file, String.join(" ", words), words.length - 1);
    Process bash = new ProcessBuilder("bash", "-c", question).redirectErrorStream(true).start();
    String answer = new String(bash.getInputStream().readAllBytes(), UTF_8);
    assertEquals(0, bash.waitFor(), answer);
    return answer.lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
  }
}
