package io.mortise.it.chaos;

import io.mortise.it.chaos.Findings.Result;
import io.mortise.it.chaos.WriteLog.Tally;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The findings as a table in Markdown, as it stands in {@code docs/reliability.md}. */
final class FindingsTable {
  private static final String HEAD =
      """
      | lock | fault | strikes | cycles | overlaps | told / dead / unsure / not told | told after, at most | stale writes, unguarded | stale writes, guarded | refused by the guard | tokens out of order | readers behind |
      |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
      """;

  private FindingsTable() {}

  static String of(List<Findings> all) {
    return HEAD
        + all.stream()
            .flatMap(each -> each.results().stream().map(result -> row(each.subject(), result)))
            .collect(Collectors.joining())
        + "\n"
        + sum(all);
  }

  private static String row(TestedLock subject, Result result) {
    Tally writes = result.writes();
    boolean none = result.overlaps().isEmpty();
    return "| %s | %s%s | %d | %,d | %d | %s | %s | %,d of %,d | %d of %,d | %,d | %d | %d |%n"
        .formatted(
            subject,
            result.round().label(),
            result.unplanned() ? " \u2021" : result.mayOverlap() ? " \u2020" : "",
            result.round().strikes().size(),
            result.cycles(),
            result.overlaps().size(),
            none
                ? "\u2013"
                : "%d / %d / %d / %d"
                    .formatted(
                        result.losersTold(),
                        result.losersDead(),
                        result.losersUnsure(),
                        result.losersUntold()),
            none ? "\u2013" : result.toldAfterMillis() + " ms",
            writes.stale(),
            writes.writes(),
            writes.guardedStale(),
            writes.guarded(),
            writes.refused(),
            result.tokensOutOfOrder().size(),
            result.readersBehind().size());
  }

  private static String sum(List<Findings> all) {
    List<Result> results = all.stream().flatMap(each -> each.results().stream()).toList();
    Tally writes = results.stream().map(Result::writes).reduce(Tally.NONE, Tally::plus);
    return String.format(
        Locale.ROOT,
        "Together: %,d cycles, %,d strikes; %,d overlaps where data was lost, %d where none was;"
            + " %,d of %,d unguarded writes stale, %d of %,d guarded; %,d refused; %d tokens out of order; %d things left over.%n",
        results.stream().mapToLong(Result::cycles).sum(),
        results.stream().mapToLong(r -> r.round().strikes().size()).sum(),
        results.stream().filter(r -> r.mayOverlap()).mapToLong(r -> r.overlaps().size()).sum(),
        results.stream().filter(r -> !r.mayOverlap()).mapToLong(r -> r.overlaps().size()).sum(),
        writes.stale(),
        writes.writes(),
        writes.guardedStale(),
        writes.guarded(),
        writes.refused(),
        results.stream().mapToLong(r -> r.tokensOutOfOrder().size()).sum(),
        all.stream().mapToLong(each -> each.left().size()).sum());
  }
}
