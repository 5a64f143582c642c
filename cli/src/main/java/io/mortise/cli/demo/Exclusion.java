package io.mortise.cli.demo;

import io.mortise.cli.timeline.Hold;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.HoldLog.Entry;
import java.util.List;
import java.util.OptionalLong;

/**
 * The verdict of {@link HoldChecker}, which the tests use too, on the holds of a chapter.
 *
 * @param overlaps pairs that were inside at the same time
 * @param tokensOutOfOrder pairs of which the later one does not have the larger fencing token
 * @param mostReaders the most readers that were inside together
 */
record Exclusion(int overlaps, int tokensOutOfOrder, int mostReaders) {

  static Exclusion of(List<Hold> holds) {
    HoldChecker.Report report = HoldChecker.check(holds.stream().map(Exclusion::entry).toList());
    return new Exclusion(report.overlaps().size(), report.disorders().size(), report.mostReaders());
  }

  private static Entry entry(Hold hold) {
    return new Entry(
        "sale",
        Integer.toString(hold.thread()),
        hold.worker(),
        hold.token(),
        hold.mode(),
        hold.enteredNanos(),
        OptionalLong.of(hold.leftNanos()));
  }

  boolean holds() {
    return overlaps == 0 && tokensOutOfOrder == 0;
  }

  List<Metric> figures() {
    return List.of(
        Metric.count("overlaps", "overlaps", overlaps),
        Metric.count("tokensOutOfOrder", "tokens out of order", tokensOutOfOrder).aside());
  }

  /** The explanation of a violation. */
  String explanation() {
    return "%d pairs were inside at the same time, %d fencing tokens did not grow."
        .formatted(overlaps, tokensOutOfOrder);
  }
}
