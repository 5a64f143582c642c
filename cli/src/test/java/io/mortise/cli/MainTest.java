package io.mortise.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class MainTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... arguments) {
    CommandLine command = Main.commandLine();
    command.setOut(new PrintWriter(out, true));
    command.setErr(new PrintWriter(err, true));
    return command.execute(arguments);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "--bogus                            | Unknown option: '--bogus'",
        "--quik                             | Possible solutions: --quick",
        "--processes 1                      | --processes must be from 2 to 32, not 1",
        "--threads 0                        | --threads must be from 1 to 32, not 0",
        "--threads many                     | 'many' is not an int",
        "--stock 9                          | --stock must be from 20 to 100000, not 9",
        "--stock 2147483647                 | --stock must be from 20 to 100000, not 2147483647",
        "--stock 50 --customers 99          | --customers must be from 100 to 1000000, not 99",
        "--lease 2                          | '2' is not a time such as 2s or 1500ms",
        "--lease 499ms                      | --lease must be from 500ms to 60s, not 499ms",
        "--lease 61s                        | --lease must be from 500ms to 60s, not 61000ms",
        "--chapter nothing                  | no chapter 'nothing'; there are without-lock,",
        "--redis localhost:6379             | --redis must be redis://host:port",
        "--redis http://localhost           | --redis must be redis://host:port",
        "--redis redis://                   | --redis must be redis://host:port",
        "--redis redis://:secret%zz@h       | --redis must be redis://host:port",
        "--redis redis://:secret^@h         | --redis must be redis://host:port",
        "--redis redis://secret@h           | --redis must be redis://host:port",
        "--redis redis://:secret@h/orders   | --redis must be redis://host:port",
        "--redis redis://a:1,b:2            | --redis must be redis://host:port",
        "--html /                           | --html: '/' cannot be written",
        "--record /dev/null/locks           | --record: '/dev/null/locks' is no folder",
        "extra                              | Unmatched argument at index 1: 'extra'",
      })
  void whatIsWrongIsNamedWithStatusTwo(String arguments, String message) {
    assertEquals(2, run(("demo " + arguments).split(" ")));
    assertTrue(err.toString().contains(message), err::toString);
    assertTrue(err.toString().contains("Try 'mortise demo --help'"), err::toString);
    assertFalse(err.toString().contains("secret"), err::toString);
    assertEquals("", out.toString());
  }

  @Test
  void theCommandItselfIsNeeded() {
    assertEquals(2, run());
    assertTrue(err.toString().contains("Try 'mortise --help'"), err::toString);
  }

  @Test
  void redisThatCannotBeReachedIsStatusThreeAndNoStackTrace() {
    assertEquals(3, run("demo", "--quick", "--redis", "redis://:secret@127.0.0.1:1"));
    assertTrue(err.toString().contains("redis://127.0.0.1:1 cannot be used"), err::toString);
    assertFalse(err.toString().contains("\tat "), err::toString);
    assertFalse(err.toString().contains("secret"), err::toString);
  }

  @Test
  void aDemoWhoseOutputCannotBeWrittenIsStatusThree(@TempDir Path directory) throws Exception {
    String page = directory.resolve("page.html").toString();
    CommandRun run =
        CommandRun.onAFullDisk(
            "demo", "--quick", "--chapter", "without-lock", "--processes", "2", "--html", page);
    assertEquals(3, run.status(), run::err);
    assertTrue(run.err().contains("standard output cannot be written"), run::err);
  }

  @Test
  void aFileThatExistsMayBeReplacedButADirectoryIsRefused(@TempDir Path directory)
      throws Exception {
    Path file = Files.createFile(directory.resolve("page.html"));
    String unreachable = "redis://127.0.0.1:1";
    assertEquals(3, run("demo", "--html", file.toString(), "--redis", unreachable));
    assertEquals(2, run("demo", "--html", directory.toString(), "--redis", unreachable));
  }

  @Test
  void helpShowsTheDemoAndHidesTheWorker() {
    assertEquals(0, run("--help"));
    assertTrue(out.toString().contains("run"), out::toString);
    assertTrue(out.toString().contains("demo"), out::toString);
    assertFalse(out.toString().contains("worker"), out::toString);
  }

  @Test
  void helpOfTheDemoNamesTheChapters() {
    assertEquals(0, run("demo", "--help"));
    assertTrue(
        out.toString()
            .replaceAll("\\s+", " ")
            .contains("without-lock, redis-lock, crash, pause, fairness, catalogue"),
        out::toString);
  }

  /** A terminal has 80 columns: a line that is broken is no command any more. */
  @Test
  void theExampleOfTheCompletionIsOneLine() {
    assertEquals(0, run("completion", "--help"));
    assertTrue(
        out.toString()
            .contains("mortise completion >~/.local/share/bash-completion/completions/mortise"),
        out::toString);
  }

  @Test
  void helpOfRunHasTheStatusesAndExamples() {
    assertEquals(0, run("help", "run"));
    assertTrue(out.toString().contains("  124   the lock was lost"), out::toString);
    assertTrue(out.toString().contains("mortise run --wait 10m deploy -- "), out::toString);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "--bogus x -- true                    | Unknown option: '--bogus'",
        "x true                               | '--' is missing between the name and the command",
        "x rm -v file                         | '--' is missing between the name and the command",
        "x git checkout -- file               | '--' is missing between the name and the command",
        "x --                                 | Missing required parameter: 'COMMAND'",
        "a{b -- true                          | lock name 'a{b' has a '{' that makes no hash tag",
        "--wait 3 x -- true                   | '3' is not a time such as 2s or 1500ms",
        "--wait -1s x -- true                 | '-1s' is not a time such as 2s or 1500ms",
        "--lease 0 x -- true                  | lease",
        "--lease 1s --at-least 2s x -- true   | a minimum must not be longer than the lease, which ends the hold: 2s",
        "--read --write x -- true             | --read and --write exclude each other",
        "--read --redis redis://a --redis redis://b x -- true | need one server",
        "--redis http://u:secret@h x -- true  | --redis: a Redis URI starts with redis://",
        "--timeout 1ms x -- true              | --timeout must be from 10ms to 10m, not 1ms",
        "--lease 1s --ttl 2s x -- true        | --lease and --ttl exclude each other",
        "--ttl 99ms x -- true                 | --ttl must be from 100ms to 365d, not 99ms",
        "-E 256 x -- true                     | --conflict-exit-code is from 0 to 255, not 256",
        "-- x --                              | the command is missing behind '--'",
        "--color pink x -- true               | Invalid value for option '--color'",
      })
  void whatIsWrongWithARunIsStatus125(String arguments, String message) {
    assertEquals(125, run(("run " + arguments).split(" ")));
    assertTrue(err.toString().contains(message), err::toString);
    assertTrue(err.toString().startsWith("mortise: "), err::toString);
    assertFalse(err.toString().contains("secret"), err::toString);
  }

  @Test
  void coloursAreWhatTheOptionSays() {
    assertEquals(0, run("run", "--color", "never", "--help"));
    assertFalse(out.toString().contains("\u001b["), out::toString);
    assertEquals(0, run("run", "--color", "always", "--help"));
    assertTrue(out.toString().contains("\u001b["), out::toString);
  }

  /** Those of a run are not the statuses of a command. */
  @ParameterizedTest
  @CsvSource({
    "--help, 3",
    "--version, 3",
    "help, 3",
    "help run, 3",
    "doctor --help, 3",
    "demo --version, 3",
    "run --help, 125",
    "run --version, 125",
  })
  void helpThatCannotBeWrittenIsAnError(String arguments, int status) throws Exception {
    CommandRun run = CommandRun.onAFullDisk(arguments.split(" "));

    assertEquals(status, run.status(), run::err);
    assertTrue(run.err().startsWith("mortise: standard output cannot be written"), run::err);
    assertEquals(1, run.err().lines().count(), run::err);
  }

  @Test
  void versionComesFromTheBuild() {
    assertEquals(0, run("--version"));
    assertTrue(out.toString().matches("(?s)mortise \\d+\\.\\d+\\.\\d+\\S*\\R.*"), out::toString);
  }
}
