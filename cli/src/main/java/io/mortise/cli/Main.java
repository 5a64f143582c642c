package io.mortise.cli;

import io.mortise.cli.demo.DemoFailure;
import io.mortise.cli.options.Arguments;
import io.mortise.cli.options.BackgroundError;
import io.mortise.cli.options.CommandFailure;
import io.mortise.cli.options.ExitStatus;
import io.mortise.cli.options.OptionNames;
import io.mortise.cli.options.OutputOptions;
import io.mortise.cli.options.StandardStreams;
import io.mortise.cli.run.StartInDoubtException;
import io.mortise.cli.text.Cell;
import io.mortise.core.LockException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExecutionException;
import picocli.CommandLine.Help;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** The {@code mortise} command. */
@Command(
    name = "mortise",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    exitCodeOnExecutionException = ExitStatus.COULD_NOT_RUN,
    description = "Distributed locks on Redis: run commands under them, and see what they do.",
    synopsisSubcommandLabel = "COMMAND",
    footer = "%nThe options of a command: mortise COMMAND --help",
    subcommands = {
      RunCommand.class,
      InspectCommand.class,
      ForceCommand.class,
      DoctorCommand.class,
      DemoCommand.class,
      CompletionCommand.class,
      HelpCommand.class
    })
public final class Main implements Runnable {
  private static final String RUN = "run";

  /** How long the end waits for a reader of standard error. */
  private static final Duration LAST_LINES = Duration.ofSeconds(1);

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec spec;

  /** Runs the command and ends the JVM with its exit status. */
  public static void main(String[] args) {
    Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT); // numbers read the same everywhere
    boolean run = args.length > 0 && args[0].equals(RUN);
    Optional<BackgroundError> error =
        run ? Optional.of(BackgroundError.install()) : Optional.empty();
    int status;
    try {
      Arguments.check(args, run ? ExitStatus.RUN_FAILED : ExitStatus.USAGE);
      status = commandLine().execute(args);
    } catch (CommandFailure e) {
      System.err.println("mortise: " + e.getMessage());
      status = e.status();
    } catch (Throwable e) { // an Error, which picocli does not catch: the JVM would end with 1
      status = run ? ExitStatus.RUN_FAILED : ExitStatus.COULD_NOT_RUN;
      System.err.println("mortise: " + oneLine(e.toString()));
    }
    error.ifPresent(stream -> stream.drain(LAST_LINES));
    System.exit(status);
  }

  static CommandLine commandLine() {
    return new CommandLine(new Main())
        .setColorScheme(Help.defaultColorScheme(OutputOptions.byDefault()))
        .setExpandAtFiles(false) // @data.json is an argument of a command
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionStrategy(Main::execute)
        .setParameterExceptionHandler(Main::refuse)
        .setExecutionExceptionHandler(Main::explain);
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "The command is missing, such as mortise run");
  }

  /** Runs the command. Picocli prints help and versions, and does not look whether it could. */
  private static int execute(ParseResult parsed) {
    Integer statusOfHelp = CommandLine.executeHelpRequest(parsed);
    if (statusOfHelp == null) {
      return new RunLast().execute(parsed);
    }
    CommandLine main = parsed.commandSpec().commandLine();
    boolean run = parsed.hasSubcommand() && parsed.subcommand().commandSpec().name().equals(RUN);
    try {
      StandardStreams.checkWritten(
          main.getOut(), run ? ExitStatus.RUN_FAILED : ExitStatus.COULD_NOT_RUN);
    } catch (CommandFailure unwritten) {
      throw new ExecutionException(main, "help", unwritten); // for explain
    }
    return statusOfHelp;
  }

  /** Prints what is wrong with the arguments, and how to get help; not the whole help. */
  private static int refuse(ParameterException e, String[] arguments) {
    CommandLine command = e.getCommandLine();
    PrintWriter err = command.getErr();
    err.println("mortise: " + oneLine(e.getMessage()));
    UnmatchedArgumentException.printSuggestions(e, err);
    err.printf("Try '%s --help'.%n", command.getCommandSpec().qualifiedName());
    return command.getCommandSpec().exitCodeOnInvalidInput();
  }

  /** Prints one line, with a stack trace only on request. */
  private static int explain(Exception e, CommandLine command, ParseResult parsed) {
    if (e instanceof InterruptedException) {
      Thread.currentThread().interrupt();
    }
    boolean verbose = isVerbose(parsed);
    boolean expected =
        e instanceof CommandFailure
            || e instanceof DemoFailure
            || e instanceof LockException
            || e instanceof StartInDoubtException;
    String fact = expected ? OptionNames.in(String.valueOf(e.getMessage())) : e.toString();
    PrintWriter err = command.getErr();
    err.println(
        "mortise: "
            + oneLine(fact)
            + (expected || verbose ? "" : "; --verbose shows the stack trace"));
    if (verbose) {
      e.printStackTrace(err);
    }
    return e instanceof CommandFailure failure
        ? failure.status()
        : command.getCommandSpec().exitCodeOnExecutionException();
  }

  private static boolean isVerbose(ParseResult parsed) {
    ParseResult last = parsed;
    while (last.hasSubcommand()) {
      last = last.subcommand();
    }
    return last.hasMatchedOption("--verbose");
  }

  private static String oneLine(@Nullable String message) {
    return Cell.printable(String.valueOf(message).strip().replaceAll("\\s*\\R\\s*", " "));
  }
}
