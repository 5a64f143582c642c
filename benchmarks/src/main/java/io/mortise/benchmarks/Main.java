package io.mortise.benchmarks;

import io.mortise.benchmarks.cases.Cases;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** The {@code bench} command as a program. */
public final class Main {
  private static final int COULD_NOT_RUN = 3;

  private Main() {}

  /** Runs the command and ends the JVM with its exit status. */
  public static void main(String[] arguments) {
    Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT); // numbers read the same everywhere
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    CommandLine bench = new CommandLine(new BenchCommand());
    bench
        .getCommandSpec()
        .usageMessage()
        .footerHeading(
            "%nCases, with the time that each takes without --quick on two processors:%n")
        .footer(
            Cases.all().stream().map(BenchCommand::line).map(Main::literal).toArray(String[]::new));
    return bench
        .setParameterExceptionHandler(Main::refuse)
        .setExecutionExceptionHandler(Main::explain);
  }

  /** Picocli formats a footer. */
  private static String literal(String text) {
    return "  " + text.replace("%", "%%");
  }

  private static int refuse(ParameterException e, String[] arguments) {
    CommandLine command = e.getCommandLine();
    command.getErr().println(command.getColorScheme().errorText(e.getMessage()));
    UnmatchedArgumentException.printSuggestions(e, command.getErr());
    command.getErr().printf("Try '%s --help'.%n", command.getCommandSpec().qualifiedName());
    return command.getCommandSpec().exitCodeOnInvalidInput();
  }

  private static int explain(Exception e, CommandLine commandLine, ParseResult parsed) {
    if (e instanceof InterruptedException) {
      Thread.currentThread().interrupt();
    }
    commandLine
        .getErr()
        .println(commandLine.getColorScheme().errorText("bench: " + e.getMessage()));
    e.printStackTrace(commandLine.getErr());
    return COULD_NOT_RUN;
  }
}
