package io.mortise.cli.demo;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Lane;
import io.mortise.cli.timeline.Span;
import io.mortise.cli.timeline.Timeline;
import io.mortise.cli.timeline.Waits;
import io.mortise.cli.worker.Accounts.Account;
import io.mortise.cli.worker.EventType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntUnaryOperator;
import java.util.stream.Stream;

/**
 * The outcome of transfers, with the locks taken in one of two ways.
 *
 * @param holds of both locks: a transfer of 1 each
 * @param tries transfers that were begun
 * @param onA the balance of account A at the end
 * @param onB the balance of account B
 * @param gaveUpInHand tries that ended while the first lock was held
 * @param tookNanos from the first request to the last release
 * @param excerpt a part of it
 */
record TransfersRun(
    LockOrder order,
    List<Hold> holds,
    int tries,
    long onA,
    long onB,
    int gaveUpInHand,
    long tookNanos,
    Timeline excerpt) {
  /** The tries of each thread with the locks one by one: most tries cost the limit. */
  static final int TRIES = 6;

  /** Between the order of the locks and the payer, in the role of a worker. */
  static final String FROM = " from ";

  private static final int CUSTOMERS_PER_TRANSFER = 3;

  /** More than can be paid from it. */
  static final long OPENING = 1_000_000;

  static final long TOTAL = 2 * OPENING;

  private static final double NANOS_PER_SECOND = 1e9;
  private static final Duration WINDOW = Duration.ofMillis(300);

  static TransfersRun play(ChapterRun run, LockOrder order) throws InterruptedException {
    for (Account account : Account.values()) {
      run.accounts().write(account, OPENING);
    }
    run.open(worker -> order + FROM + payer(worker).name(), run.settings().threads());
    run.awaitEnd();
    return order == LockOrder.TOGETHER ? together(run) : oneByOne(run);
  }

  /** Returns the transfers of a thread with this many customers, with both locks as one. */
  static int transfers(int customers) {
    return Math.max(1, customers / CUSTOMERS_PER_TRANSFER);
  }

  /** Half of the processes pay from one account, half from the other. */
  static Account payer(int worker) {
    return worker % 2 == 0 ? Account.A : Account.B;
  }

  private static TransfersRun together(ChapterRun run) {
    List<Hold> holds = run.recording().holds();
    return of(
        run,
        LockOrder.TOGETHER,
        tries(run, TransfersRun::transfers),
        holds,
        TimelineWindow.of(
                run, "With a MultiLock: a thread inside has both accounts.", holds, WINDOW)
            .with(lanes(account -> holds)));
  }

  private static TransfersRun oneByOne(ChapterRun run) {
    Recording recording = run.recording();
    List<Hold> all = new ArrayList<>(recording.holds());
    for (Account account : Account.values()) {
      all.addAll(recording.kept(account));
    }
    return of(
        run,
        LockOrder.ONE_BY_ONE,
        tries(run, customers -> TRIES),
        all,
        TimelineWindow.of(
                run,
                "One by one: while the accounts are of two colours, each side waits for the other."
                    + " A bar in a thread's row has both.",
                all,
                WINDOW)
            .with(lanes(recording::kept))
            .withSpans(inVain(recording)));
  }

  /** The spans from the grant of a first lock to its release without the second. */
  private static List<Span> inVain(Recording recording) {
    List<Span> spans = new ArrayList<>();
    for (Account account : Account.values()) {
      for (Hold kept : recording.kept(account)) {
        if (payer(kept.worker()) == account
            && recording.holds().stream().noneMatch(hold -> isDuring(hold, kept))) {
          String label = "has %s, waits for %s".formatted(account.name(), account.other().name());
          spans.add(
              new Span(kept.worker(), kept.thread(), label, kept.enteredNanos(), kept.leftNanos()));
        }
      }
    }
    return spans;
  }

  private static boolean isDuring(Hold hold, Hold kept) {
    return hold.worker() == kept.worker()
        && hold.thread() == kept.thread()
        && hold.enteredNanos() >= kept.enteredNanos()
        && hold.leftNanos() <= kept.leftNanos();
  }

  private static TransfersRun of(
      ChapterRun run, LockOrder order, int tries, List<Hold> all, Timeline excerpt) {
    Recording recording = run.recording();
    return new TransfersRun(
        order,
        recording.holds(),
        tries,
        run.accounts().read(Account.A),
        run.accounts().read(Account.B),
        recording.count(EventType.GAVE_UP),
        all.stream().mapToLong(Hold::leftNanos).max().orElse(0)
            - all.stream().mapToLong(Hold::askedNanos).min().orElse(0),
        excerpt);
  }

  private static int tries(ChapterRun run, IntUnaryOperator ofThread) {
    int tries = 0;
    for (int worker = 0; worker < run.settings().processes(); worker++) {
      for (int thread = 0; thread < run.threads(); thread++) {
        tries += ofThread.applyAsInt(run.customersOf(worker, thread));
      }
    }
    return tries;
  }

  private static List<Lane> lanes(Function<Account, List<Hold>> holders) {
    return Arrays.stream(Account.values())
        .map(account -> Lane.ofHolds(account.toString(), holders.apply(account)))
        .toList();
  }

  /** Keeps a copy of the list. */
  TransfersRun {
    holds = List.copyOf(holds);
  }

  long total() {
    return onA + onB;
  }

  /** Whether each account has the balance that the transfers have left. */
  boolean isExact() {
    long moved = paidFrom(Account.A) - paidFrom(Account.B);
    return onA == OPENING - moved && onB == OPENING + moved;
  }

  boolean isBothWays() {
    return Arrays.stream(Account.values()).allMatch(account -> paidFrom(account) > 0);
  }

  private long paidFrom(Account account) {
    return holds.stream().filter(hold -> payer(hold.worker()) == account).count();
  }

  /** Returns the number of tries that did not get one of the locks. */
  int gaveUp() {
    return tries - holds.size();
  }

  long perSecond() {
    return tookNanos == 0 ? 0 : Math.round(holds.size() * NANOS_PER_SECOND / tookNanos);
  }

  /** The waits of those that got both. */
  Waits waits() {
    return Waits.of(holds);
  }

  /** The figures of this way. */
  List<Metric> figures() {
    return Stream.of(
            Metric.count("transfers", "transfers", holds.size()),
            Metric.count("gaveUp", "gave up", gaveUp()),
            Metric.millis("tookMillis", "took", tookNanos).aside(),
            new Metric("transfersPerSecond", "throughput", perSecond(), "transfers/s", true))
        .map(order::figure)
        .toList();
  }

  /** The explanation of a violation. */
  String complaint() {
    return "%d transfers, %d from A and %d from B; %d are on A and %d on B, which began with %d each."
        .formatted(holds.size(), paidFrom(Account.A), paidFrom(Account.B), onA, onB, OPENING);
  }
}
