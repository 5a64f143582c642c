package io.mortise.cli.report;

import io.mortise.cli.demo.Metric;
import io.mortise.cli.text.Cell;
import io.mortise.cli.text.TextTable;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The figures of things that are compared, as a table with a column for each of them. */
final class Comparison {
  private Comparison() {}

  /** Returns the lines of the table; none if there is no figure. */
  static List<String> lines(List<Metric> figures) {
    if (figures.isEmpty()) {
      return List.of();
    }
    Set<String> compared =
        figures.stream().map(Metric::of).collect(Collectors.toCollection(LinkedHashSet::new));
    TextTable table = new TextTable().row(cells("", compared.stream()));
    figures.stream()
        .collect(
            Collectors.groupingBy(
                Metric::label, LinkedHashMap::new, Collectors.toMap(Metric::of, Metric::text)))
        .forEach(
            (label, texts) ->
                table.row(cells(label, compared.stream().map(of -> texts.getOrDefault(of, "")))));
    return table.lines(false);
  }

  private static Cell[] cells(String first, Stream<String> others) {
    return Stream.concat(Stream.of(first), others).map(Cell::plain).toArray(Cell[]::new);
  }
}
