package io.mortise.cli;

import io.mortise.cli.options.ExitStatus;
import io.mortise.cli.options.StandardStreams;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code mortise completion}: prints the script by which a shell completes the command line. */
@Command(
    name = "completion",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    exitCodeOnExecutionException = ExitStatus.COULD_NOT_RUN,
    description = "Prints a script by which bash or zsh completes commands and options.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  For this shell:",
      "    source <(mortise completion)",
      "  For every bash of a user:",
      "    mortise completion >~/.local/share/bash-completion/completions/mortise"
    })
public final class CompletionCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec spec;

  @Override
  public Integer call() {
    CommandLine mortise = spec.root().commandLine();
    PrintWriter out = spec.commandLine().getOut();
    out.print(AutoComplete.bash(spec.root().name(), mortise));
    StandardStreams.checkWritten(out);
    return ExitStatus.OK;
  }
}
