package io.mortise.cli;

import io.mortise.cli.inspect.Census;
import io.mortise.cli.inspect.ForcedRelease;
import io.mortise.cli.inspect.LockTable;
import io.mortise.cli.options.CommandFailure;
import io.mortise.cli.options.ExitStatus;
import io.mortise.cli.options.Logging;
import io.mortise.cli.options.OptionNames;
import io.mortise.cli.options.OutputOptions;
import io.mortise.cli.options.RedisClients;
import io.mortise.cli.options.RedisOptions;
import io.mortise.cli.options.StandardStreams;
import io.mortise.cli.text.Cell;
import io.mortise.cli.text.Style;
import io.mortise.core.LockException;
import io.mortise.core.LockInspection;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code mortise force}: takes a lock from whoever holds it. */
@Command(
    name = "force",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    versionProvider = Version.class,
    exitCodeOnExecutionException = ExitStatus.COULD_NOT_RUN,
    description = {
      "Takes the lock NAME from whoever holds it, after showing who that is and asking.",
      "",
      "The holder learns of it at its next renewal, and goes on until then: whatever the lock"
          + " protects may be used by two at once. The next waiter is woken. If the holder has"
          + " changed since it was shown, nothing is done.",
      ""
    },
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
      "0:the lock was taken from its holder",
      "1:nothing was done: the lock is not held, its holder has changed, or the answer was no",
      "2:the options are wrong, or nobody can be asked and --yes is missing",
      "3:Redis could not be used, or the key is no lock, or may be none",
      "4:the lock was taken on some of several servers only"
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  mortise force orders:42",
      "  mortise force --yes --redis redis://cache.example:6379 orders:42"
    })
public final class ForceCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec spec;

  @Mixin private RedisOptions redis = new RedisOptions();
  @Mixin private OutputOptions output = new OutputOptions();

  @Parameters(paramLabel = "NAME", description = "The name of the lock; not a pattern.")
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private String name;

  @Option(
      names = {"-y", "--yes"},
      description = "Do not ask.")
  private boolean yes;

  private int failures; // of servers that could not be used
  private final BooleanSupplier isTerminal;
  private final InstantSource clock = InstantSource.system();

  /** Creates the command; picocli calls it. */
  public ForceCommand() {
    this(StandardStreams::isInputTerminal);
  }

  ForceCommand(BooleanSupplier isTerminal) {
    this.isTerminal = isTerminal;
  }

  @Override
  public Integer call() throws IOException {
    if (!output.isVerbose()) {
      Logging.silence();
    }
    try (RedisClients clients = redis.open()) {
      int status = force(look(clients));
      if (StandardStreams.isOutputLost(spec.commandLine().getOut())) {
        say("standard output cannot be written; the exit status says what was done");
      }
      return status;
    }
  }

  private List<ForcedRelease> look(RedisClients clients) {
    List<ForcedRelease> releases = new ArrayList<>();
    try {
      for (int i = 0; i < clients.all().size(); i++) {
        try {
          releases.add(ForcedRelease.of(clients.servers().get(i), clients.all().get(i), name));
        } catch (LockException e) {
          if (clients.all().size() == 1) {
            throw e;
          }
          failed(clients.servers().get(i), e);
        }
      }
      if (releases.isEmpty()) {
        throw new CommandFailure(
            ExitStatus.COULD_NOT_RUN, "no server could be asked; nothing was done", null);
      }
      return releases;
    } catch (IllegalArgumentException e) { // the name is none
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  private void failed(String server, LockException e) {
    failures++;
    say("%s: %s".formatted(server, OptionNames.in(String.valueOf(e.getMessage()))));
  }

  private void say(String line) {
    StandardStreams.report(spec.commandLine().getErr(), line);
  }

  private int force(List<ForcedRelease> releases) throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    List<ForcedRelease> held = releases.stream().filter(ForcedRelease::isHeld).toList();
    if (held.isEmpty()) {
      out.println(
          Cell.printable(
              "the lock '%s' is not held%s; nothing was done%s"
                  .formatted(
                      releases.get(0).shown().name(),
                      failures > 0 ? " on the servers that answer" : "",
                      Census.isPattern(name) ? "; it was taken for a name, not a pattern" : "")));
      return failures > 0 ? ExitStatus.COULD_NOT_RUN : ExitStatus.NO;
    }
    held.forEach(this::refuseIfNoLock);
    held.forEach(release -> show(release, releases.size() + failures > 1));
    if (!yes && !confirmed()) {
      out.println("nothing was done");
      return ExitStatus.NO;
    }
    return take(held);
  }

  private int take(List<ForcedRelease> held) {
    int taken = 0;
    int changed = 0;
    for (ForcedRelease release : held) {
      try {
        ForcedRelease.Outcome outcome = release.run();
        spec.commandLine().getOut().println(Cell.printable(text(release, outcome)));
        taken += outcome == ForcedRelease.Outcome.FORCED ? 1 : 0;
        changed += outcome == ForcedRelease.Outcome.CHANGED ? 1 : 0;
      } catch (LockException e) {
        failed(release.server(), e);
      }
    }
    if (taken > 0) {
      return failures + changed == 0 ? ExitStatus.OK : ExitStatus.WARNING;
    }
    return failures > 0 ? ExitStatus.COULD_NOT_RUN : ExitStatus.NO;
  }

  private String text(ForcedRelease release, ForcedRelease.Outcome outcome) {
    return switch (outcome) {
      case FORCED -> "taken: " + release.described();
      case CHANGED ->
          "the holder of '%s' at %s has changed; nothing was done there, look again"
              .formatted(release.shown().name(), release.server());
      case FREE ->
          "the lock '%s' at %s has been released meanwhile; nothing was done there"
              .formatted(release.shown().name(), release.server());
    };
  }

  private void refuseIfNoLock(ForcedRelease release) {
    release
        .strangeField()
        .ifPresent(
            field -> {
              throw new CommandFailure(
                  ExitStatus.COULD_NOT_RUN,
                  "'%s' at %s has the field '%s', which is no holder with a hold count; nothing was done, because it would be deleted"
                      .formatted(release.shown().name(), release.server(), field),
                  null);
            });
    release
        .doubt()
        .ifPresent(
            doubt -> {
              throw new CommandFailure(
                  ExitStatus.COULD_NOT_RUN,
                  "'%s' at %s %s; nothing was done, because it may be no lock, and would be deleted"
                      .formatted(release.shown().name(), release.server(), doubt),
                  null);
            });
  }

  private void show(ForcedRelease release, boolean several) {
    PrintWriter out = spec.commandLine().getOut();
    boolean colours = spec.commandLine().getColorScheme().ansi().enabled();
    if (several) {
      out.println(Style.NAME.of(release.server(), colours));
    }
    LockInspection lock = release.shown();
    new LockTable(clock.instant()).of(lock, colours).forEach(out::println);
    out.flush();
  }

  /** Only the answer {@code y} or {@code yes} is one. */
  private boolean confirmed() throws IOException {
    if (!isTerminal.getAsBoolean()) {
      throw new CommandFailure(
          ExitStatus.USAGE,
          "nobody can be asked, because standard input is no terminal; --yes takes the lock without"
              + " asking",
          null);
    }
    PrintWriter out = spec.commandLine().getOut();
    out.print("Take it from its holder, who may go on until its next renewal? [y/N] ");
    out.flush();
    String answer =
        new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset())).readLine();
    return answer != null && answer.strip().toLowerCase(Locale.ROOT).matches("y|yes");
  }
}
