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
 * What came out of transfers, with the locks taken in one of two ways.
 *
 * @param holds who had both locks when: a transfer of 1 each
 * @param tries how many transfers were begun
 * @param onA what is on account A at the end
 * @param onB what is on account B
 * @param gaveUpInHand how many were given up while the first lock was held
 * @param tookNanos from the first question to the last answer
 * @param excerpt a part of it
 */
record TransfersRun(
    LockOrder pairing,
    List<Hold> holds,
    int tries,
    long onA,
    long onB,
    int gaveUpInHand,
    long tookNanos,
    Timeline excerpt) {
  /** More than can be paid from it. */
  static final long OPENING = 1_000_000;

  static final long TOTAL = 2 * OPENING;

  private static final double NANOS_PER_SECOND = 1e9;
  private static final Duration WINDOW = Duration.ofMillis(300);

  static TransfersRun play(ChapterRun stage, LockOrder pairing) throws InterruptedException {
    for (Account account : Account.values()) {
      stage.accounts().write(account, OPENING);
    }
    stage.open(
        worker -> Transfers.role(pairing, Transfers.payer(worker)), stage.settings().threads());
    stage.awaitEnd();
    return pairing == LockOrder.TOGETHER ? together(stage) : oneByOne(stage);
  }

  private static TransfersRun together(ChapterRun stage) {
    List<Hold> holds = stage.recording().holds();
    return of(
        stage,
        LockOrder.TOGETHER,
        tries(stage, Transfers::transfers),
        holds,
        TimelineWindow.of(
                stage, "With a MultiLock: whoever is inside has both accounts.", holds, WINDOW)
            .with(lanes(account -> holds)));
  }

  private static TransfersRun oneByOne(ChapterRun stage) {
    Recording recording = stage.recording();
    List<Hold> all = new ArrayList<>(recording.holds());
    for (Account account : Account.values()) {
      all.addAll(recording.kept(account));
    }
    return of(
        stage,
        LockOrder.ONE_BY_ONE,
        tries(stage, customers -> Transfers.TRIES),
        all,
        TimelineWindow.of(
                stage,
                "One by one: while the accounts are of two colours, each side waits for the other."
                    + " A bar in a thread's row has both.",
                all,
                WINDOW)
            .with(lanes(recording::kept))
            .withSpans(inVain(recording)));
  }

  /** From having the first lock to giving it back without having had the second. */
  private static List<Span> inVain(Recording recording) {
    List<Span> spans = new ArrayList<>();
    for (Account account : Account.values()) {
      for (Hold kept : recording.kept(account)) {
        if (Transfers.payer(kept.worker()) == account
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
      ChapterRun stage, LockOrder pairing, int tries, List<Hold> all, Timeline excerpt) {
    Recording recording = stage.recording();
    return new TransfersRun(
        pairing,
        recording.holds(),
        tries,
        stage.accounts().read(Account.A),
        stage.accounts().read(Account.B),
        recording.count(EventType.GAVE_UP),
        all.stream().mapToLong(Hold::leftNanos).max().orElse(0)
            - all.stream().mapToLong(Hold::askedNanos).min().orElse(0),
        excerpt);
  }

  private static int tries(ChapterRun stage, IntUnaryOperator ofThread) {
    int tries = 0;
    for (int worker = 0; worker < stage.settings().processes(); worker++) {
      for (int thread = 0; thread < stage.threads(); thread++) {
        tries += ofThread.applyAsInt(stage.customersOf(worker, thread));
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

  /** Whether each account has what the transfers have left on it. */
  boolean isExact() {
    long moved = paidFrom(Account.A) - paidFrom(Account.B);
    return onA == OPENING - moved && onB == OPENING + moved;
  }

  boolean isBothWays() {
    return Arrays.stream(Account.values()).allMatch(account -> paidFrom(account) > 0);
  }

  private long paidFrom(Account account) {
    return holds.stream().filter(hold -> Transfers.payer(hold.worker()) == account).count();
  }

  /** For want of either lock. */
  int gaveUp() {
    return tries - holds.size();
  }

  long perSecond() {
    return tookNanos == 0 ? 0 : Math.round(holds.size() * NANOS_PER_SECOND / tookNanos);
  }

  /** How long these waited that got both. */
  Waits waits() {
    return Waits.of(holds);
  }

  /** What both ways have. */
  List<Metric> figures() {
    return Stream.of(
            Metric.count("transfers", "transfers", holds.size()),
            Metric.count("gaveUp", "gave up", gaveUp()),
            Metric.millis("tookMillis", "took", tookNanos).aside(),
            new Metric("transfersPerSecond", "throughput", perSecond(), "transfers/s", true))
        .map(pairing::figure)
        .toList();
  }

  /** For when something is wrong. */
  String complaint() {
    return "%d transfers, %d from A and %d from B; %d are on A and %d on B, which began with %d each."
        .formatted(holds.size(), paidFrom(Account.A), paidFrom(Account.B), onA, onB, OPENING);
  }
}
