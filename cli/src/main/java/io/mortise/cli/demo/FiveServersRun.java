package io.mortise.cli.demo;

import io.mortise.cli.timeline.Gaps;
import io.mortise.cli.timeline.Gaps.Gap;
import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Outage;
import io.mortise.cli.timeline.Timeline;
import io.mortise.cli.timeline.Timeline.Frame;
import io.mortise.cli.timeline.Waits;
import io.mortise.cli.worker.Accounts.Account;
import io.mortise.cli.worker.EventType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What came out of taking turns while servers died and came back.
 *
 * @param holds who was inside when, in the order of entering; at least one
 * @param outages which server was away when
 * @param counted the number that each raised by one
 * @param errors how often a lock was lost, or could not be had
 * @param lease the lease of the lock
 */
record FiveServersRun(
    List<Hold> holds,
    List<Outage> outages,
    long counted,
    int errors,
    Duration lease,
    List<Timeline> pictures) {
  private static final Duration BEFORE_KILL = Duration.ofMillis(60);
  private static final Duration AFTER_KILL = Duration.ofMillis(240);

  /** A machine that is busy can be that slow, whatever the lock does. */
  private static final Duration BUSY_MACHINE = Duration.ofSeconds(2);

  private static final double NANOS_PER_SECOND = 1e9;

  static FiveServersRun of(ChapterRun stage, Servers servers, long killedAt) {
    Recording recording = stage.recording();
    List<Hold> holds = recording.holds().stream().sorted(Hold.BY_ENTRY).toList();
    long start = holds.stream().mapToLong(Hold::askedNanos).min().orElse(killedAt);
    long end = holds.stream().mapToLong(Hold::leftNanos).max().orElse(killedAt);
    return new FiveServersRun(
        holds,
        servers.outages(),
        stage.accounts().read(Account.A),
        recording.count(EventType.TOLD) + recording.count(EventType.FAILED),
        stage.settings().lease(),
        List.of(
            picture(
                stage,
                servers,
                new Frame(start, end, start, "the start"),
                "All of it. A dotted line: a server is killed, or is back without its data."),
            picture(
                stage,
                servers,
                new Frame(
                    killedAt - BEFORE_KILL.toNanos(),
                    killedAt + AFTER_KILL.toNanos(),
                    killedAt,
                    "the first kill"),
                "The same, around the time at which the servers were killed.")));
  }

  private static Timeline picture(ChapterRun stage, Servers servers, Frame frame, String caption) {
    return new Timeline(
            frame,
            stage.recording().holds(),
            stage.recording().marks(),
            List.of(),
            stage.settings().processes(),
            stage.threads(),
            caption)
        .with(servers.lanes());
  }

  /** Keeps copies of the lists. */
  FiveServersRun {
    holds = List.copyOf(holds);
    outages = List.copyOf(outages);
    pictures = List.copyOf(pictures);
  }

  /** Writes that another one went over. */
  long lostUpdates() {
    return holds.size() - counted;
  }

  /** How often somebody came in while so many servers were up. */
  int cycles(int up) {
    return in(up).size();
  }

  private List<Hold> in(int up) {
    return holds.stream().filter(hold -> upAt(hold.enteredNanos()) == up).toList();
  }

  private int upAt(long nanos) {
    return FiveServers.SERVERS - Outage.countAt(outages, nanos);
  }

  /** For how long nobody was inside at most, whatever happened. */
  long longestGapNanos() {
    return Gaps.between(holds).stream().mapToLong(Gap::nanos).max().orElse(0);
  }

  /** A dead server must not cost the others a lease. */
  Duration mostGap() {
    return lease.compareTo(BUSY_MACHINE) > 0 ? lease : BUSY_MACHINE;
  }

  /** For how long so many servers were up, from the first turn to the last. */
  private long nanosWith(int up) {
    List<Long> changes =
        Stream.concat(
                Stream.of(start(), end()),
                outages.stream()
                    .flatMap(outage -> Stream.of(outage.fromNanos(), outage.toNanos()))
                    .filter(at -> at > start() && at < end()))
            .sorted()
            .toList();
    long sum = 0;
    for (int i = 1; i < changes.size(); i++) {
      sum += upAt(changes.get(i - 1)) == up ? changes.get(i) - changes.get(i - 1) : 0;
    }
    return sum;
  }

  private long start() {
    return holds.stream().mapToLong(Hold::askedNanos).min().orElse(0);
  }

  private long end() {
    return holds.stream().mapToLong(Hold::leftNanos).max().orElse(0);
  }

  List<Metric> figures() {
    List<Metric> figures = new ArrayList<>();
    for (int up : List.of(FiveServers.SERVERS, FiveServers.SERVERS - 2)) {
      figures.addAll(figures(up));
    }
    figures.add(Metric.millis("longestGapMillis", "longest gap", longestGapNanos()));
    figures.add(Metric.count("turns", "turns in all", holds.size()));
    figures.add(Metric.count("lostUpdates", "lost updates", lostUpdates()));
    figures.add(Metric.count("errors", "errors", errors));
    figures.add(Metric.millis("leaseMillis", "lease", lease).aside());
    return figures;
  }

  private List<Metric> figures(int up) {
    Waits waits = Waits.of(in(up));
    long nanos = nanosWith(up);
    long perSecond = nanos == 0 ? 0 : Math.round(cycles(up) * NANOS_PER_SECOND / nanos);
    return Stream.of(
            Metric.count("turns", "turns", cycles(up)),
            new Metric("turnsPerSecond", "throughput", perSecond, "turns/s", true),
            Metric.millis("medianWaitMillis", "median wait", waits.atMostNanos(0.5)),
            Metric.millis("longestWaitMillis", "longest wait", waits.atMostNanos(1)).aside())
        .map(figure -> figure.as("with" + up, "%d of %d up".formatted(up, FiveServers.SERVERS)))
        .toList();
  }
}
