package io.mortise.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.mortise.cli.inspect.Census;
import io.mortise.cli.inspect.JsonText;
import io.mortise.cli.inspect.LockTable;
import io.mortise.cli.inspect.LocksJson;
import io.mortise.cli.options.ExitStatus;
import io.mortise.cli.options.Logging;
import io.mortise.cli.options.OutputOptions;
import io.mortise.cli.options.RedisClients;
import io.mortise.cli.options.RedisOptions;
import io.mortise.cli.options.StandardStreams;
import io.mortise.cli.options.TimeConverter;
import io.mortise.cli.text.Cell;
import io.mortise.cli.text.LiveDisplay;
import io.mortise.cli.text.Style;
import io.mortise.cli.text.Times;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code mortise inspect}: shows which locks there are, who holds them and who waits. */
@Command(
    name = "inspect",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    versionProvider = Version.class,
    exitCodeOnExecutionException = ExitStatus.COULD_NOT_RUN,
    description = {
      "Shows which locks there are in Redis, who holds them, and who waits for them in which"
          + " order.",
      "",
      "A name is asked for at once, and a pattern by SCAN, which reads all names of the database in"
          + " small steps. Locks are shown that are held, or have a queue. Of the threads of one"
          + " client that wait for a lock without a queue, the first is in Redis and is shown; of"
          + " Redisson none is. The host of a holder is known about ten seconds after its client"
          + " first used a lock; that of a client of Redisson is not.",
      ""
    },
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
      "0:the lock NAME is held; with a PATTERN whatever was found",
      "1:the lock NAME is not held on any of the servers",
      "2:the options are wrong",
      "3:Redis could not be asked: of several servers none; or, with a NAME, one, and it is not held"
          + " on the others. Or the output cannot be written",
      "4:with a PATTERN: only a part of a cluster was searched"
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  The holders and waiters of one lock:",
      "    mortise inspect orders:42",
      "  All locks of a service, once a second:",
      "    mortise inspect --watch 'billing:*'",
      "  The names of the locks that are held, for a script:",
      "    mortise inspect --json | jq -r '.servers[].locks[] | select(.held).name'"
    })
public final class InspectCommand implements Callable<Integer> {
  private static final Duration MIN_INTERVAL = Duration.ofMillis(100);
  private static final Duration MAX_INTERVAL = Duration.ofHours(1);
  private static final int MAX_LIMIT = 100_000;
  private static final String ALL = "*";

  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec spec;

  @Mixin private RedisOptions redis = new RedisOptions();
  @Mixin private OutputOptions output = new OutputOptions();

  @Parameters(
      arity = "0..1",
      paramLabel = "NAME|PATTERN",
      defaultValue = ALL,
      description =
          "The name of a lock, or a pattern with * ? [abc], in quotes; a \\ before such a character"
              + " makes it ordinary. Default: all locks.")
  private String target = ALL;

  @Option(names = "--exact", description = "It is a name, also if it has * ? [ or \\.")
  private boolean exact;

  @Option(names = "--json", description = "Print JSON; with --watch one object on each line.")
  private boolean json;

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "200",
      description = "The maximum number of locks, 1 to 100000. Default: 200.")
  private int limit;

  @Option(
      names = "--watch",
      description =
          "Show it again and again, on a terminal in the same place, until Ctrl-C ends it.")
  private boolean watch;

  @Option(
      names = "--interval",
      paramLabel = "TIME",
      converter = TimeConverter.class,
      defaultValue = "1s",
      description = "The pause of --watch, 100ms to 1h. Default: 1s.")
  private Duration interval = Duration.ofSeconds(1);

  private final InstantSource clock = InstantSource.system();

  @Override
  public Integer call() {
    check();
    if (!output.isVerbose()) {
      Logging.silence();
    }
    try (RedisClients clients = redis.open()) {
      List<Census> first = first(clients);
      first.stream().filter(Census::isPartial).forEach(this::warn);
      if (watch) {
        watch(clients, first);
        return ExitStatus.OK;
      }
      PrintWriter out = spec.commandLine().getOut();
      if (json) {
        out.println(JsonText.pretty(LocksJson.of(clock.instant(), first)));
      } else {
        lines(first).forEach(out::println);
      }
      StandardStreams.checkWritten(out);
      if (first.stream().anyMatch(Census::isPartial)) {
        return ExitStatus.WARNING;
      }
      if (isPattern() || first.stream().anyMatch(Census::isAnyHeld)) {
        return ExitStatus.OK;
      }
      // "Not held" would be a guess while one of them is silent: it may hold it.
      return first.stream().anyMatch(each -> each.failure().isPresent())
          ? ExitStatus.COULD_NOT_RUN
          : ExitStatus.NO;
    }
  }

  private void warn(Census partial) {
    StandardStreams.report(
        spec.commandLine().getErr(),
        "%s: only the nodes of the URI were searched, because the slots of the cluster cannot be read: is it down, or does the user lack +cluster|slots or +cluster|info?"
            .formatted(partial.server()));
  }

  private List<Census> first(RedisClients clients) {
    try {
      List<Census> first = take(clients);
      if (first.stream().allMatch(each -> each.failure().isPresent())) {
        throw first.get(0).failure().orElseThrow();
      }
      return first;
    } catch (IllegalArgumentException e) { // the name is none
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  private void check() {
    if (limit < 1 || limit > MAX_LIMIT) {
      throw new ParameterException(
          spec.commandLine(), "--limit must be from 1 to %d, not %d".formatted(MAX_LIMIT, limit));
    }
    if (interval.compareTo(MIN_INTERVAL) < 0 || interval.compareTo(MAX_INTERVAL) > 0) {
      throw new ParameterException(
          spec.commandLine(),
          "--interval must be from 100ms to 1h, not %dms".formatted(interval.toMillis()));
    }
  }

  private boolean isPattern() {
    return !exact && Census.isPattern(target);
  }

  private List<Census> take(RedisClients clients) {
    return IntStream.range(0, clients.all().size())
        .mapToObj(
            i ->
                Census.tryTake(
                    clients.servers().get(i), clients.all().get(i), target, isPattern(), limit))
        .toList();
  }

  /** That no server answers is an error of the command at its beginning; later it may pass. */
  private void watch(RedisClients clients, List<Census> first) {
    List<Census> now = first;
    try (LiveDisplay display =
        new LiveDisplay(spec.commandLine().getOut(), StandardStreams.isOutputTerminal() && !json)) {
      while (true) {
        show(display, now);
        StandardStreams.checkWritten(spec.commandLine().getOut());
        Thread.sleep(interval.toMillis());
        now = take(clients);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void show(LiveDisplay display, List<Census> now) {
    Instant at = clock.instant();
    if (json) {
      ObjectNode object = LocksJson.of(at, now);
      spec.commandLine().getOut().println(JsonText.line(object));
      return;
    }
    List<String> block = new ArrayList<>();
    block.add(
        Style.FAINT.of(
            "%s  %s, every %s"
                .formatted(
                    TIME.format(at.atZone(ZoneId.systemDefault())),
                    target.equals(ALL) ? "all locks" : Cell.printable(target),
                    Times.of(interval)),
            colours()));
    block.addAll(lines(now));
    display.show(block);
  }

  private List<String> lines(List<Census> servers) {
    LockTable table = new LockTable(clock.instant());
    List<String> lines = new ArrayList<>();
    for (Census each : servers) {
      if (servers.size() > 1) {
        lines.add(Style.NAME.of(each.server(), colours()));
      }
      lines.addAll(table.of(each, colours()));
      if (each.found().locks().isEmpty() && each.failure().isEmpty()) {
        lines.add(
            target.equals(ALL)
                ? "there are no locks"
                : Cell.printable("no lock matches '%s'".formatted(target)));
      }
    }
    return lines;
  }

  private boolean colours() {
    return spec.commandLine().getColorScheme().ansi().enabled();
  }
}
