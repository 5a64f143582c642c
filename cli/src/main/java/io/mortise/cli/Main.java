package io.mortise.cli;

import io.mortise.cli.demo.DemoFailure;
import java.io.PrintWriter;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** The {@code mortise} command. */
@Command(
    name = "mortise",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    description = "Distributed locks on Redis: see what they do.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = DemoCommand.class)
public final class Main implements Runnable {
  /** The exit status of a run that says nothing about the options or the locks. */
  static final int COULD_NOT_RUN = 3;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec spec;

  /** Runs the command and ends the JVM with its exit status. */
  public static void main(String[] args) {
    Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT); // numbers read the same everywhere
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    return new CommandLine(new Main())
        .setParameterExceptionHandler(Main::refuse)
        .setExecutionExceptionHandler(Main::explain);
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "The command is missing: mortise demo");
  }

  /** Prints what is wrong with the arguments, and how to get help; not the whole help. */
  private static int refuse(ParameterException e, String[] arguments) {
    CommandLine command = e.getCommandLine();
    PrintWriter err = command.getErr();
    err.println(command.getColorScheme().errorText(e.getMessage()));
    UnmatchedArgumentException.printSuggestions(e, err);
    err.printf("Try '%s --help'.%n", command.getCommandSpec().qualifiedName());
    return command.getCommandSpec().exitCodeOnInvalidInput();
  }

  /** Prints a message, with a stack trace only on request. */
  private static int explain(Exception e, CommandLine commandLine, ParseResult parsed) {
    if (e instanceof InterruptedException) {
      Thread.currentThread().interrupt();
    }
    boolean ours = e instanceof DemoFailure;
    commandLine
        .getErr()
        .println(
            commandLine
                .getColorScheme()
                .errorText("mortise: " + (ours ? e.getMessage() : e.toString())));
    ParseResult command = parsed.hasSubcommand() ? parsed.subcommand() : parsed;
    if (command.hasMatchedOption("--verbose")) {
      e.printStackTrace(commandLine.getErr());
    } else if (!ours) {
      commandLine.getErr().println("mortise: --verbose shows the stack trace");
    }
    return COULD_NOT_RUN;
  }
}
