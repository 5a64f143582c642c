package io.mortise.cli;

import io.mortise.cli.demo.Chapter;
import io.mortise.cli.demo.Chapters;
import io.mortise.cli.demo.Demo;
import io.mortise.cli.demo.DemoReport;
import io.mortise.cli.demo.DemoSettings;
import io.mortise.cli.options.CheckedOptions;
import io.mortise.cli.options.ExitStatus;
import io.mortise.cli.options.StandardStreams;
import io.mortise.cli.options.TimeConverter;
import io.mortise.cli.report.ConsoleProgress;
import io.mortise.cli.report.HtmlReport;
import io.mortise.cli.report.JsonReport;
import io.mortise.cli.report.TableReport;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code mortise demo}: reads the options, plays the chapters, writes the reports. */
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    versionProvider = Version.class,
    exitCodeOnExecutionException = ExitStatus.COULD_NOT_RUN,
    description = {
      "Shows what the locks do, with several processes that sell from one stock in Redis.",
      "",
      "A flash sale without a lock and with one, over a crash and over a pause, in the order of"
          + " requests; a catalogue that many read and a few write; transfers between two accounts,"
          + " from both sides; a hot article, with one lock and with five segments; and a lock on"
          + " five servers, of which two die.",
      ""
    },
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
      "0:every chapter holds",
      "1:a chapter does not hold",
      "2:the options are wrong",
      "3:the demo could not run, or its output cannot be written, which says nothing about the locks"
    })
public final class DemoCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec spec;

  @Option(names = "--quick", description = "Small numbers and a short lease: within 20 s.")
  private boolean quick;

  @Option(
      names = "--json",
      description = "Print one JSON object, and nothing else, to standard output.")
  private boolean json;

  @Option(
      names = "--redis",
      paramLabel = "URI",
      description =
          "redis://[user:password@]host[:port][/database], or rediss:// for TLS. Default: a Redis"
              + " that is started for the demo.")
  private @Nullable String redis;

  @Option(
      names = "--chapter",
      paramLabel = "NAME",
      completionCandidates = ChapterNames.class,
      description = "Play only this one; may be repeated. One of ${COMPLETION-CANDIDATES}.")
  private List<String> chapterNames = new ArrayList<>();

  @Option(
      names = "--processes",
      paramLabel = "N",
      description = "Worker processes, 2 to 32. Default: 4; quick: 3.")
  private @Nullable Integer processes;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Threads in each process, 1 to 32. Default: 4.")
  private @Nullable Integer threads;

  @Option(
      names = "--stock",
      paramLabel = "N",
      description = "Articles to sell, 20 to 100000. Default: 1000; quick: 200.")
  private @Nullable Integer stock;

  @Option(
      names = "--customers",
      paramLabel = "N",
      description =
          "Customers who want one; at least twice the stock. Default: three times the stock.")
  private @Nullable Integer customers;

  @Option(
      names = "--lease",
      paramLabel = "TIME",
      converter = TimeConverter.class,
      description =
          "The lease of the lock, such as 2s or 1500ms; 500ms to 60s. Default: 5s; quick: 2s.")
  private @Nullable Duration lease;

  @Option(
      names = "--html",
      paramLabel = "FILE",
      description = "The page with the time lines. Default: " + PageFile.DEFAULT + ".")
  private @Nullable Path html;

  @Option(
      names = "--record",
      paramLabel = "FOLDER",
      description =
          "Let each worker leave a recording of Flight Recorder there, for 'jfr print'; a worker"
              + " that is killed leaves none.")
  private @Nullable Path record;

  @Option(
      names = {"-v", "--verbose"},
      description = "Show what the workers log.")
  private boolean verbose;

  @Override
  public Integer call() throws InterruptedException, IOException {
    DemoSettings settings = settings();
    List<Chapter> chapters = chapters();
    Optional<URI> redisUri = redisUri();
    PageFile page = page();
    Optional<Path> recordings = recordings();

    PrintWriter err = spec.commandLine().getErr();
    Demo demo =
        new Demo(
            Version.ofMortise(),
            settings,
            redisUri,
            chapter ->
                ConsoleProgress.of(chapter.title(), chapter.expected(settings), verbose, err));
    DemoReport report = recordings.map(demo::recordingTo).orElse(demo).play(chapters);
    Path written = page.write(HtmlReport.of(report));

    PrintWriter out = spec.commandLine().getOut();
    out.println(
        json
            ? JsonReport.of(report, quick, written)
            : TableReport.of(report, written, spec.commandLine().getColorScheme().ansi()));
    StandardStreams.checkWritten(out);
    return report.ok() ? ExitStatus.OK : ExitStatus.NO;
  }

  private DemoSettings settings() {
    int units = or(stock, quick ? 200 : 1000);
    return CheckedOptions.valueOf(
        spec,
        () ->
            new DemoSettings(
                or(processes, quick ? 3 : 4),
                or(threads, 4),
                units,
                or(customers, 3 * Math.min(units, Integer.MAX_VALUE / 3)),
                or(lease, Duration.ofSeconds(quick ? 2 : 5))));
  }

  private List<Chapter> chapters() {
    List<Chapter> chosen =
        CheckedOptions.valueOf(
            spec, () -> chapterNames.stream().map(Chapters::named).distinct().toList());
    return chosen.isEmpty() ? Chapters.all() : chosen;
  }

  /** The message shows nothing of the text, which may have a password. */
  private Optional<URI> redisUri() {
    if (redis == null) {
      return Optional.empty();
    }
    try {
      URI uri = new URI(redis);
      if (isOneServer(uri)) {
        return Optional.of(uri);
      }
    } catch (URISyntaxException withTheText) {
      // refused below
    }
    throw new ParameterException(
        spec.commandLine(),
        "--redis must be redis://host:port or rediss://host:port, with one host, at most the number"
            + " of a database, and user and password percent-encoded");
  }

  private static boolean isOneServer(URI uri) {
    return ("redis".equals(uri.getScheme()) || "rediss".equals(uri.getScheme()))
        && uri.getHost() != null
        && uri.getPath().matches("/?|/\\d{1,4}")
        && (uri.getRawUserInfo() == null || uri.getRawUserInfo().contains(":"));
  }

  private PageFile page() throws IOException {
    Path asked = html;
    return asked == null
        ? PageFile.byDefault()
        : CheckedOptions.valueOf(spec, () -> PageFile.asked(asked));
  }

  private Optional<Path> recordings() {
    try {
      return record == null
          ? Optional.empty()
          : Optional.of(Files.createDirectories(record).toRealPath());
    } catch (IOException e) {
      throw new ParameterException(
          spec.commandLine(),
          "--record: '%s' is no folder, and cannot be made; name another one".formatted(record),
          e);
    }
  }

  private static <T> T or(@Nullable T given, T otherwise) {
    return given == null ? otherwise : given;
  }
}
