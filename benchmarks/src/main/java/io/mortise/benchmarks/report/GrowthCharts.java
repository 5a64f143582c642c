package io.mortise.benchmarks.report;

import io.mortise.benchmarks.cases.BenchmarkCase.Growth;
import io.mortise.benchmarks.locks.LockLibrary;
import java.awt.BasicStroke;
import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.ChartEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.lines.SeriesLines;
import org.knowm.xchart.style.markers.Marker;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * Draws a figure against the size of the workload. Both axes are logarithmic, so that a cost in
 * proportion to the size has the same slope everywhere, and one that does not grow is level.
 */
public final class GrowthCharts {
  private static final int WIDTH = 820;
  private static final int HEIGHT = 460;
  private static final String NUMBERS = "#,##0.###";
  private static final List<BasicStroke> STROKES =
      List.of(SeriesLines.SOLID, SeriesLines.DASH_DASH, SeriesLines.DOT_DOT, SeriesLines.DASH_DOT);
  private static final List<Marker> MARKERS =
      List.of(
          SeriesMarkers.CIRCLE,
          SeriesMarkers.SQUARE,
          SeriesMarkers.TRIANGLE_UP,
          SeriesMarkers.DIAMOND);

  private GrowthCharts() {}

  /**
   * Writes the chart of one figure.
   *
   * @param file without its ending
   * @return whether there was anything to show: a line needs two sizes
   */
  public static boolean write(
      String title, Growth growth, List<Map<String, @Nullable Object>> rows, Path file)
      throws IOException {
    List<String> series = series(growth, rows);
    Map<LockLibrary, Map<String, SortedMap<Double, Double>>> lines = lines(growth, rows);
    if (lines.isEmpty()) {
      return false;
    }
    DoubleSummaryStatistics range =
        lines.values().stream()
            .flatMap(its -> its.values().stream())
            .flatMap(points -> points.values().stream())
            .mapToDouble(Double::doubleValue)
            .summaryStatistics();
    XYChart chart = chart(title, growth);
    chart.getStyler().setYAxisMin(Charts.decadeBelow(range.getMin()));
    chart
        .getStyler()
        .setYAxisMax(Charts.decadeAbove(range.getMax() * 1.01)); // one value has a decade too
    lines.forEach(
        (library, its) -> its.forEach((each, points) -> add(chart, library, each, series, points)));
    ChartEncoder.saveChart(chart, file.toString(), Charts.FORMAT);
    return true;
  }

  private static List<String> series(Growth growth, List<Map<String, @Nullable Object>> rows) {
    return rows.stream().map(row -> String.valueOf(row.get(growth.series()))).distinct().toList();
  }

  /** The points of each library and series that has two or more. */
  static Map<LockLibrary, Map<String, SortedMap<Double, Double>>> lines(
      Growth growth, List<Map<String, @Nullable Object>> rows) {
    Map<LockLibrary, Map<String, SortedMap<Double, Double>>> lines = new LinkedHashMap<>();
    for (LockLibrary library : LockLibrary.values()) {
      for (String each : series(growth, rows)) {
        SortedMap<Double, Double> points = points(growth, rows, library, each);
        if (points.size() > 1) {
          lines.computeIfAbsent(library, its -> new LinkedHashMap<>()).put(each, points);
        }
      }
    }
    return lines;
  }

  /** The values by size; a logarithmic axis has no place for a zero. */
  static SortedMap<Double, Double> points(
      Growth growth, List<Map<String, @Nullable Object>> rows, LockLibrary library, String series) {
    SortedMap<Double, Double> points = new TreeMap<>();
    for (Map<String, @Nullable Object> row : rows) {
      if (library.label().equals(row.get("subject"))
          && series.equals(String.valueOf(row.get(growth.series())))
          && row.get(growth.size()) instanceof Number size
          && row.get(growth.figure().field()) instanceof Number value
          && value.doubleValue() > 0) {
        points.put(size.doubleValue(), value.doubleValue());
      }
    }
    return points;
  }

  private static void add(
      XYChart chart,
      LockLibrary library,
      String each,
      List<String> series,
      SortedMap<Double, Double> points) {
    int index = series.indexOf(each);
    Color colour = Charts.colour(library);
    XYSeries line =
        chart.addSeries(
            series.size() == 1 ? library.title() : library.title() + ", " + each,
            new ArrayList<>(points.keySet()),
            new ArrayList<>(points.values()));
    line.setMarkerColor(colour);
    line.setMarker(MARKERS.get(index % MARKERS.size()));
    line.setLineColor(colour);
    line.setLineStyle(STROKES.get(index % STROKES.size()));
  }

  private static XYChart chart(String title, Growth growth) {
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle(growth.sizeTitle())
            .yAxisTitle(growth.figure().title())
            .build();
    Charts.style(chart.getStyler(), NUMBERS);
    chart.getStyler().setXAxisLogarithmic(true);
    chart.getStyler().setXAxisDecimalPattern(NUMBERS);
    return chart;
  }
}
