package io.mortise.cli;

import io.mortise.cli.inspect.Diagnosis;
import io.mortise.cli.inspect.DiagnosisJson;
import io.mortise.cli.inspect.DiagnosisTable;
import io.mortise.cli.inspect.JsonText;
import io.mortise.cli.options.ExitStatus;
import io.mortise.cli.options.Logging;
import io.mortise.cli.options.OutputOptions;
import io.mortise.cli.options.RedisClients;
import io.mortise.cli.options.RedisOptions;
import io.mortise.cli.options.StandardStreams;
import io.mortise.core.ServerHealth.Severity;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code mortise doctor}: checks whether Redis is fit for locks. */
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    versionProvider = Version.class,
    exitCodeOnExecutionException = ExitStatus.COULD_NOT_RUN,
    description = {
      "Checks whether Redis is there, fit for locks, and allowed to the user, and says what to do.",
      "",
      "Sends PING, INFO and TIME to each server, or to each master of a cluster; runs a script that"
          + " does what a lock does, on keys of its own, which it removes; and subscribes a"
          + " channel. It changes no lock and no setting. With several --redis the servers of a"
          + " RedLock are compared too.",
      ""
    },
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
      "0:all is well; notes may be there",
      "1:a problem: locks do not work, or not all of them",
      "2:the options are wrong",
      "3:Mortise failed, or the output cannot be written",
      "4:a warning: locks work, and may be lost or granted twice in a case that is named"
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  mortise doctor",
      "  mortise doctor --namespace billing: --redis redis://locks@redis.example:6379",
      "  mortise doctor --redis redis://a --redis redis://b --redis redis://c",
      "  mortise doctor --json | jq '.servers[].findings[].problem'"
    })
public final class DoctorCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec spec;

  @Mixin private RedisOptions redis = new RedisOptions();
  @Mixin private OutputOptions output = new OutputOptions();

  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  @Override
  public Integer call() {
    if (!output.isVerbose()) {
      Logging.silence();
    }
    try (RedisClients clients = redis.open()) {
      Diagnosis diagnosis = Diagnosis.of(clients);
      PrintWriter out = spec.commandLine().getOut();
      if (json) {
        out.println(JsonText.pretty(DiagnosisJson.of(diagnosis)));
      } else {
        boolean colours = spec.commandLine().getColorScheme().ansi().enabled();
        DiagnosisTable.of(diagnosis, colours).forEach(out::println);
      }
      StandardStreams.checkWritten(out);
      return status(diagnosis.severity());
    }
  }

  private static int status(Severity severity) {
    return switch (severity) {
      case OK, INFO -> ExitStatus.OK;
      case WARNING -> ExitStatus.WARNING;
      case ERROR -> ExitStatus.NO;
    };
  }
}
