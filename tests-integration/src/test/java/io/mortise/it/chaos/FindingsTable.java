package io.mortise.it.chaos;

import io.mortise.it.chaos.Findings.Result;
import io.mortise.it.chaos.WriteLog.Tally;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/** The findings as a table in Markdown, with the columns of {@code docs/reliability.md}. */
final class FindingsTable {
  private static final String HEAD =
      """
      | lock | fault | strikes | cycles | overlaps | loser notified / dead / unsure / not notified | notified after, at most | stale writes, unguarded | stale writes, guarded | refused by the guard | tokens out of order | readers behind | all in after | losses reported late: p50 / p99 / max, ms |
      |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
      """;

  private FindingsTable() {}

  static String of(List<Findings> all) {
    return HEAD
        + all.stream()
            .flatMap(each -> each.results().stream().map(result -> row(each.tested(), result)))
            .collect(Collectors.joining())
        + "\n"
        + total(all);
  }

  private static String row(TestedLock tested, Result result) {
    Tally writes = result.writes();
    boolean none = result.overlaps().isEmpty();
    return "| %s | %s%s | %d | %,d | %d | %s | %s | %,d of %,d | %d of %,d | %,d | %d | %d | %,d ms | %s |%n"
        .formatted(
            tested,
            result.round().label(),
            result.notes().unplanned() ? " \u2021" : result.mayOverlap() ? " \u2020" : "",
            result.round().events().size(),
            result.cycles(),
            result.overlaps().size(),
            none
                ? "\u2013"
                : "%d / %d / %d / %d"
                    .formatted(
                        result.losersNotified(),
                        result.losersDead(),
                        result.losersUnsure(),
                        result.losersNotNotified()),
            none ? "\u2013" : result.notifiedAfterMillis() + " ms",
            writes.stale(),
            writes.writes(),
            writes.guardedStale(),
            writes.guarded(),
            writes.refused(),
            result.tokensOutOfOrder().size(),
            result.readersBehind().size(),
            result.notes().allInMillis(),
            result.lateness());
  }

  /** Returns the sums of all rows, in words. */
  static String total(List<Findings> all) {
    List<Result> results = all.stream().flatMap(each -> each.results().stream()).toList();
    Tally writes = results.stream().map(Result::writes).reduce(Tally.NONE, Tally::plus);
    return String.format(
        Locale.ROOT,
        "Together: %,d cycles, %,d strikes; %,d overlaps where data was lost, %d where none was;"
            + " %,d of %,d unguarded writes stale, %d of %,d guarded; %,d refused; %d tokens out of"
            + " order; %d things left over; %,d steps without room in the heap; losses reported"
            + " late: %s.%n",
        sum(results, Result::cycles),
        sum(results, result -> result.round().events().size()),
        sum(results, result -> result.mayOverlap() ? result.overlaps().size() : 0),
        sum(results, result -> result.mayOverlap() ? 0 : result.overlaps().size()),
        writes.stale(),
        writes.writes(),
        writes.guardedStale(),
        writes.guarded(),
        writes.refused(),
        sum(results, result -> result.tokensOutOfOrder().size()),
        sum(all, findings -> findings.left().size()),
        sum(all, Findings::errors),
        Lateness.together(results.stream().map(Result::lateness)));
  }

  private static <T> long sum(List<T> all, ToLongFunction<T> number) {
    return all.stream().mapToLong(number).sum();
  }
}
