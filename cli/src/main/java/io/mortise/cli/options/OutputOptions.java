package io.mortise.cli.options;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options of the output, for every command. */
public final class OutputOptions {
  /** The condition under which the output has colours. */
  enum When {
    auto,
    always,
    never
  }

  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  @Option(
      names = {"-v", "--verbose"},
      description = "Show the stack trace of an error.")
  private boolean verbose;

  /** Returns whether the user wants to see more. */
  public boolean isVerbose() {
    return verbose;
  }

  @Option(
      names = "--color",
      paramLabel = "WHEN",
      description =
          "Colours: auto, always or never. Default: auto, on a terminal, unless the variable"
              + " NO_COLOR is set.")
  void color(When when) {
    Ansi ansi =
        switch (when) {
          case auto -> byDefault();
          case always -> Ansi.ON;
          case never -> Ansi.OFF;
        };
    command.commandLine().setColorScheme(Help.defaultColorScheme(ansi));
  }

  /** Returns whether the output has colours if no option says so. */
  public static Ansi byDefault() {
    return isSet(System.getenv("NO_COLOR"))
            || "dumb".equals(System.getenv("TERM"))
            || !StandardStreams.isOutputTerminal()
        ? Ansi.OFF
        : Ansi.ON;
  }

  private static boolean isSet(@Nullable String variable) {
    return variable != null && !variable.isEmpty();
  }
}
