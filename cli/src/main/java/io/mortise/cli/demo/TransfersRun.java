package io.mortise.cli.demo;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Lane;
import io.mortise.cli.timeline.Timeline;
import io.mortise.cli.timeline.Waits;
import io.mortise.cli.worker.Accounts.Account;
import io.mortise.cli.worker.Note;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * What came out of transfers, with the locks taken in one of two ways.
 *
 * @param holds who had both locks when: a transfer of 1 each
 * @param tries how many transfers were begun
 * @param gaveUpInHand how many were given up while the first lock was held
 * @param onA what is on account A at the end
 * @param onB what is on account B
 * @param excerpt a part of it
 */
record TransfersRun(
    Pairing pairing,
    List<Hold> holds,
    int tries,
    int gaveUpInHand,
    long onA,
    long onB,
    Timeline excerpt) {
  /** More than can be paid from it. */
  static final long OPENING = 1_000_000;

  static final long TOTAL = 2 * OPENING;

  private static final double NANOS_PER_SECOND = 1e9;
  private static final Duration WINDOW = Duration.ofMillis(400);

  static TransfersRun play(Stage stage, Pairing pairing) throws InterruptedException {
    for (Account account : Account.values()) {
      stage.accounts().write(account, OPENING);
    }
    stage.open(
        worker -> Transfers.role(pairing, Transfers.payer(worker)), stage.settings().threads());
    stage.awaitEnd();
    Recording recording = stage.recording();
    boolean together = pairing == Pairing.TOGETHER;
    return new TransfersRun(
        pairing,
        recording.holds(),
        together
            ? recording.served()
            : Transfers.TRIES * stage.settings().processes() * stage.settings().threads(),
        recording.count(Note.GAVE_UP),
        stage.accounts().read(Account.A),
        stage.accounts().read(Account.B),
        Excerpt.of(
                stage,
                together
                    ? "With a MultiLock: whoever comes in has both accounts."
                    : "One by one: a bar in the upper part has both locks. Below, whose each account"
                        + " is: while they are of two colours, each waits for the other.",
                WINDOW)
            .with(
                Arrays.stream(Account.values())
                    .map(
                        account ->
                            Lane.ofHolds(
                                account.toString(),
                                together ? recording.holds() : recording.kept(account)))
                    .toList()));
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
    long start = holds.stream().mapToLong(Hold::askedNanos).min().orElse(0);
    long end = holds.stream().mapToLong(Hold::leftNanos).max().orElse(0);
    return end == start ? 0 : Math.round(holds.size() * NANOS_PER_SECOND / (end - start));
  }

  List<Figure> figures() {
    Waits waits = Waits.of(holds);
    return Stream.of(
            Figure.count("transfers", "transfers", holds.size()),
            Figure.count("gaveUp", "gave up", gaveUp()),
            new Figure("transfersPerSecond", "throughput", perSecond(), "transfers/s", true),
            Figure.millis("medianWaitMillis", "median wait", waits.atMostNanos(0.5)).aside(),
            Figure.millis("longestWaitMillis", "longest wait", waits.atMostNanos(1)))
        .map(pairing::figure)
        .toList();
  }

  /** For when something is wrong. */
  String complaint() {
    return "%d transfers, %d from A and %d from B; %d are on A and %d on B, which began with %d each."
        .formatted(holds.size(), paidFrom(Account.A), paidFrom(Account.B), onA, onB, OPENING);
  }
}
