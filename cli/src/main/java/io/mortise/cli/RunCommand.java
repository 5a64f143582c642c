package io.mortise.cli;

import io.mortise.cli.options.CheckedOptions;
import io.mortise.cli.options.ExitStatus;
import io.mortise.cli.options.LockKind;
import io.mortise.cli.options.OutputOptions;
import io.mortise.cli.options.RedisClients;
import io.mortise.cli.options.RedisOptions;
import io.mortise.cli.options.StandardStreams;
import io.mortise.cli.options.TimeConverter;
import io.mortise.cli.run.LockedRun;
import io.mortise.cli.run.RunSettings;
import io.mortise.cli.run.StartInDoubtException;
import io.mortise.core.DistributedLock;
import io.mortise.core.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code mortise run}: reads the options, and runs a command under a lock. */
@Command(
    name = "run",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    versionProvider = Version.class,
    customSynopsis = "mortise run [OPTIONS] NAME -- COMMAND [ARGUMENT...]",
    exitCodeOnInvalidInput = ExitStatus.RUN_FAILED,
    exitCodeOnExecutionException = ExitStatus.RUN_FAILED,
    description = {
      "Runs a command while this process holds the lock NAME, and releases the lock when the command"
          + " has ended.",
      "",
      "The command has the standard streams and the environment of mortise, and in addition"
          + " MORTISE_LOCK, the name of the lock, and MORTISE_TOKEN, its fencing token. TERM, INT and"
          + " HUP are passed on to it. When the lock is lost, the command gets TERM, and KILL after"
          + " the grace.",
      ""
    },
    exitCodeListHeading = "%nExit status: that of the command, 128+N if signal N ended it, or%n",
    exitCodeList = {
      "122:Redis cannot be used, or the lock was lost at once; the command was not run",
      "123:another owner held the lock for the whole wait; the command was not run",
      "124:the lock was lost, or may have been, while the command ran; the command was ended",
      "125:the options are wrong, or mortise failed",
      "126:the command cannot be executed",
      "127:there is no such command"
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  A job of cron on several machines, which runs once:",
      "    mortise run --wait 0 --at-least 30s --quiet report -- /opt/report",
      "  A deployment that waits for another one, for at most ten minutes:",
      "    mortise run --wait 10m deploy -- ./deploy.sh v42",
      "  A lock on a majority of three servers:",
      "    mortise run --redis redis://a --redis redis://b --redis redis://c x -- make"
    })
public final class RunCommand implements Callable<Integer> {
  private static final String SEPARATOR = "--";
  private static final int MAX_STATUS = 255;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "NAME", description = "The name of the lock.")
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private String name;

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "COMMAND",
      description = "The command and its arguments, behind '--'. It is run without a shell.")
  private List<String> command = new ArrayList<>();

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private LockKind kind;

  @Option(
      names = "--wait",
      paramLabel = "TIME",
      converter = TimeConverter.class,
      description =
          "How long to wait for the lock: 500ms, 30s, 5m, 1h; 0 makes one attempt. Default: without"
              + " end, but for at most 10s while Redis cannot be used.")
  private @Nullable Duration wait;

  @Option(
      names = "--lease",
      paramLabel = "TIME",
      converter = TimeConverter.class,
      description =
          "A fixed lease: the lock is lost after this time, and the command is ended. Default: none;"
              + " the lock is renewed while the command runs.")
  private @Nullable Duration lease;

  @Option(
      names = "--ttl",
      paramLabel = "TIME",
      converter = TimeConverter.class,
      description =
          "How long the lock lasts without renewal, when mortise is killed or cannot reach Redis."
              + " Default: 30s.")
  private @Nullable Duration ttl;

  @Option(
      names = "--at-least",
      paramLabel = "TIME",
      converter = TimeConverter.class,
      description =
          "The lock stays busy for this time after it was acquired, also if the command ends"
              + " earlier.")
  private @Nullable Duration atLeast;

  @Option(
      names = "--grace",
      paramLabel = "TIME",
      converter = TimeConverter.class,
      description = "The time between TERM and KILL when the lock is lost. Default: 10s.")
  private Duration grace = Duration.ofSeconds(10);

  @Option(
      names = {"-E", "--conflict-exit-code"},
      paramLabel = "N",
      description = "The exit status if another owner holds the lock. Default: 123.")
  private int conflictStatus = ExitStatus.RUN_CONFLICT;

  @Option(
      names = {"-q", "--quiet"},
      description = "Print nothing if another owner holds the lock.")
  private boolean quiet;

  @Option(
      names = "--foreground",
      negatable = true,
      description =
          "Leave the command in the foreground of the terminal, from which it can read, and where"
              + " Ctrl-C reaches it; otherwise it has a process group of its own, which is ended as a"
              + " whole. Default: --foreground if standard input is a terminal.")
  private @Nullable Boolean foreground;

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private RedisOptions redis;

  @Mixin
  @SuppressWarnings({"NullAway.Init", "UnusedVariable"}) // picocli sets it, and Main reads it
  private OutputOptions output;

  @Override
  public Integer call() throws InterruptedException {
    List<String> words = words();
    if (conflictStatus < 0 || conflictStatus > MAX_STATUS) {
      throw wrong("--conflict-exit-code is from 0 to 255, not " + conflictStatus);
    }
    if (lease != null && ttl != null) {
      throw wrong("--lease and --ttl exclude each other: a fixed lease is not renewed");
    }
    RedisClients clients = redis.open(this::withTtl);
    boolean close = true;
    try {
      DistributedLock lock = withTimes(kind.of(clients, name, lease));
      String lockName = clients.all().get(0).options().namespace() + name;
      LockedRun run =
          LockedRun.prepare(
              lockName,
              new RunSettings(
                  words, wait, grace, conflictStatus, quiet, isForeground(), clients.isQuorum()),
              this::report);
      return run.under(lock);
    } catch (StartInDoubtException e) {
      close = false; // it would release the lock
      throw e;
    } finally {
      if (close) {
        clients.close();
      }
    }
  }

  /**
   * Returns the command behind the separator. Without the separator an option of the command would
   * be taken for one of ours.
   */
  private List<String> words() {
    List<String> arguments = spec.commandLine().getParseResult().originalArgs();
    int separator = arguments.indexOf(SEPARATOR);
    List<String> tail =
        separator < 0 ? List.of() : arguments.subList(separator + 1, arguments.size());
    if (tail.equals(command)) {
      return command;
    }
    // The name may stand behind the separator too, when it begins with '-'.
    if (tail.size() == command.size() + 1) {
      List<String> words =
          command.get(0).equals(SEPARATOR) ? command.subList(1, command.size()) : command;
      if (words.isEmpty()) {
        throw wrong("the command is missing behind '--': mortise run -- NAME -- COMMAND");
      }
      return words;
    }
    throw wrong("'--' is missing between the name and the command: mortise run NAME -- COMMAND");
  }

  private LockOptions.Builder withTtl(LockOptions.Builder settings) {
    return ttl == null ? settings : settings.lease(ttl);
  }

  private DistributedLock withTimes(DistributedLock lock) {
    return CheckedOptions.valueOf(
        spec,
        () -> {
          DistributedLock leased = lease == null ? lock : lock.withLease(lease);
          return atLeast == null ? leased : leased.atLeast(atLeast);
        });
  }

  private boolean isForeground() {
    return foreground == null ? StandardStreams.isInputTerminal() : foreground;
  }

  private void report(String sentence) {
    StandardStreams.report(spec.commandLine().getErr(), sentence);
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
