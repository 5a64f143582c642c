package io.mortise.cli.demo;

import io.mortise.cli.timeline.Gaps;
import io.mortise.cli.timeline.Gaps.Gap;
import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Mark;
import io.mortise.cli.timeline.Outage;
import io.mortise.cli.timeline.Timeline;
import io.mortise.cli.timeline.Timeline.Frame;
import io.mortise.cli.timeline.Waits;
import io.mortise.cli.worker.Accounts.Account;
import io.mortise.cli.worker.EventType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The outcome of taking turns while servers died and came back.
 *
 * @param holds all holds, in the order of their entries; at least one
 * @param outages the outages of the servers
 * @param counted the number that each turn raised by one
 * @param errors those of locks that were lost, or could not be acquired
 * @param inDoubt how many releases could not be confirmed. That is no error: while two servers are
 *     dead each of the others counts, and one of them may be slow on a busy machine
 * @param lease the lease of the lock
 */
record FiveServersRun(
    List<Hold> holds,
    List<Outage> outages,
    long counted,
    List<String> errors,
    int inDoubt,
    Duration lease,
    List<Timeline> drawings) {
  static final int SERVERS = 5;

  private static final Set<EventType> ERRORS = Set.of(EventType.NOTIFIED, EventType.FAILED);

  private static final Duration BEFORE_KILL = Duration.ofMillis(60);
  private static final Duration AFTER_KILL = Duration.ofMillis(240);

  /** A busy machine can be that slow, whatever the lock does. */
  private static final Duration BUSY_MACHINE = Duration.ofSeconds(2);

  private static final double NANOS_PER_SECOND = 1e9;

  static FiveServersRun of(ChapterRun run, Servers servers, long killedAt) {
    Recording recording = run.recording();
    List<Hold> holds = recording.holds().stream().sorted(Hold.BY_ENTRY).toList();
    long start = holds.stream().mapToLong(Hold::askedNanos).min().orElse(killedAt);
    long end = holds.stream().mapToLong(Hold::leftNanos).max().orElse(killedAt);
    return new FiveServersRun(
        holds,
        servers.outages(),
        run.accounts().read(Account.A),
        recording.marks().stream()
            .filter(mark -> ERRORS.contains(mark.type()))
            .map(Mark::detail)
            .toList(),
        recording.count(EventType.IN_DOUBT),
        run.settings().lease(),
        List.of(
            drawing(
                run,
                servers,
                new Frame(start, end, start, "the start"),
                "All of it. A dotted line: a server is killed, or is back without its data."),
            drawing(
                run,
                servers,
                new Frame(
                    killedAt - BEFORE_KILL.toNanos(),
                    killedAt + AFTER_KILL.toNanos(),
                    killedAt,
                    "the first kill"),
                "The same, around the time at which the servers were killed.")));
  }

  private static Timeline drawing(ChapterRun run, Servers servers, Frame frame, String caption) {
    return new Timeline(
            frame,
            run.recording().holds(),
            run.recording().marks(),
            List.of(),
            run.settings().processes(),
            run.threads(),
            caption)
        .with(servers.lanes());
  }

  /** Keeps copies of the lists. */
  FiveServersRun {
    holds = List.copyOf(holds);
    errors = List.copyOf(errors);
    outages = List.copyOf(outages);
    drawings = List.copyOf(drawings);
  }

  /** Returns the number of writes that another one overwrote. */
  long lostUpdates() {
    return holds.size() - counted;
  }

  /** Returns the number of entries while this many servers were up. */
  int cycles(int up) {
    return in(up).size();
  }

  private List<Hold> in(int up) {
    return holds.stream().filter(hold -> upAt(hold.enteredNanos()) == up).toList();
  }

  private int upAt(long nanos) {
    return SERVERS - Outage.countAt(outages, nanos);
  }

  /** The longest time in which no thread was inside. */
  long longestGapNanos() {
    return Gaps.between(holds).stream().mapToLong(Gap::nanos).max().orElse(0);
  }

  /** The limit of that time: a dead server must not cost the others a lease. */
  Duration mostGap() {
    return lease.compareTo(BUSY_MACHINE) > 0 ? lease : BUSY_MACHINE;
  }

  /** The time with this many servers up, from the first turn to the last. */
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
    for (int up : List.of(SERVERS, SERVERS - 2)) {
      figures.addAll(figures(up));
    }
    figures.add(Metric.millis("longestGapMillis", "longest gap", longestGapNanos()));
    figures.add(Metric.count("turns", "turns in all", holds.size()));
    figures.add(Metric.count("lostUpdates", "lost updates", lostUpdates()));
    figures.add(Metric.count("errors", "errors", errors.size()));
    figures.add(Metric.count("inDoubt", "releases in doubt", inDoubt));
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
        .map(figure -> figure.as("with" + up, "%d of %d up".formatted(up, SERVERS)))
        .toList();
  }
}
