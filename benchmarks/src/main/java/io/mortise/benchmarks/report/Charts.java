package io.mortise.benchmarks.report;

import io.mortise.benchmarks.cases.BenchmarkCase.Figure;
import io.mortise.benchmarks.locks.LockLibrary;
import java.awt.Color;
import java.awt.Font;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.ChartEncoder;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler.LegendPosition;

/** Draws a bar chart of a case, on a logarithmic scale, which shows ratios. */
public final class Charts {
  /** Not SVG: XChart draws each letter as an outline, and a chart would have some 400 KB. */
  static final String FORMAT = "png";

  private static final String NUMBERS = "#,##0";
  private static final int HEIGHT = 420;
  private static final int WIDTH_OF_REST = 260;
  private static final int WIDTH_OF_GROUP = 140;
  private static final int LEAST_WIDTH = 620;
  private static final int WIDTH_OF_LETTER = 10;
  private static final Map<LockLibrary, Color> COLOURS =
      Map.of(
          LockLibrary.MORTISE, new Color(0x1F6FB4),
          LockLibrary.REDISSON, new Color(0xD1603D),
          LockLibrary.BARE_COMMANDS, new Color(0x9AA3AB),
          LockLibrary.ONE_NODE, new Color(0x9AA3AB));

  private Charts() {}

  /**
   * Writes the chart of one case.
   *
   * @param file without its ending
   * @return whether there was anything to show
   */
  public static boolean write(
      String title, Figure figure, List<Map<String, @Nullable Object>> rows, Path file)
      throws IOException {
    Set<String> workloads = new LinkedHashSet<>();
    Map<String, Map<String, Double>> values = new LinkedHashMap<>();
    for (Map<String, @Nullable Object> row : rows) {
      if (row.get(figure.field()) instanceof Double value && value > 0) {
        workloads.add(String.valueOf(row.get("contest")));
        values
            .computeIfAbsent(String.valueOf(row.get("subject")), each -> new LinkedHashMap<>())
            .put(String.valueOf(row.get("contest")), value);
      }
    }
    if (workloads.isEmpty()) {
      return false;
    }
    DoubleSummaryStatistics range =
        values.values().stream()
            .flatMap(its -> its.values().stream())
            .mapToDouble(Double::doubleValue)
            .summaryStatistics();
    CategoryChart chart = chart(title, figure, workloads.size());
    chart.getStyler().setYAxisMin(decadeBelow(range.getMin()));
    chart.getStyler().setYAxisMax(decadeAbove(range.getMax()));
    for (LockLibrary library : LockLibrary.values()) {
      Map<String, Double> its = values.get(library.label());
      if (its != null) {
        List<@Nullable Double> bars = new ArrayList<>();
        workloads.forEach(workload -> bars.add(its.get(workload)));
        chart
            .addSeries(library.title(), new ArrayList<>(workloads), bars)
            .setFillColor(colour(library));
      }
    }
    ChartEncoder.saveChart(chart, file.toString(), FORMAT);
    return true;
  }

  /** The colour of a library, the same in all charts. */
  static Color colour(LockLibrary library) {
    return COLOURS.getOrDefault(library, Color.BLACK);
  }

  /** Leaves some height for the lowest bar. */
  static double decadeBelow(double least) {
    return Math.pow(10, Math.floor(Math.log10(least / 1.5)));
  }

  static double decadeAbove(double most) {
    return Math.pow(10, Math.ceil(Math.log10(most)));
  }

  /** Sets what all charts have: their frame, and a logarithmic vertical axis. */
  static void style(AxesChartStyler styler, String numbers) {
    styler
        .setLegendPosition(LegendPosition.OutsideE)
        .setChartBackgroundColor(Color.WHITE)
        .setChartTitleFont(new Font(Font.SANS_SERIF, Font.BOLD, 14))
        .setPlotBorderVisible(false);
    styler.setYAxisLogarithmic(true);
    styler.setYAxisDecimalPattern(numbers);
  }

  private static int width(String title, int groups) {
    int least = Math.max(LEAST_WIDTH, WIDTH_OF_LETTER * title.length());
    return Math.max(least, WIDTH_OF_REST + groups * WIDTH_OF_GROUP);
  }

  private static CategoryChart chart(String title, Figure figure, int groups) {
    CategoryChart chart =
        new CategoryChartBuilder()
            .width(width(title, groups))
            .height(HEIGHT)
            .title(title)
            .yAxisTitle(figure.title())
            .build();
    style(chart.getStyler(), NUMBERS);
    chart.getStyler().setAvailableSpaceFill(0.8);
    chart.getStyler().setLabelsVisible(true);
    chart.getStyler().setDecimalPattern(NUMBERS);
    chart.getStyler().setLabelsFont(new Font(Font.SANS_SERIF, Font.PLAIN, 10));
    chart.getStyler().setPlotGridVerticalLinesVisible(false);
    return chart;
  }
}
