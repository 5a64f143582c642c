package io.mortise.benchmarks.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.benchmarks.cases.BenchmarkCase.Figure;
import io.mortise.benchmarks.cases.BenchmarkCase.Growth;
import io.mortise.benchmarks.locks.LockLibrary;
import java.awt.image.BufferedImage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lines of a figure against the size. */
class GrowthChartsTest {
  private static final Growth GROWTH =
      new Growth("clients", "clients", "lock", new Figure("p99_us", "wait, µs"));

  @Test
  void pointsAreThoseOfOneLibraryAndOneSeriesInOrderOfTheSize() {
    List<Map<String, @Nullable Object>> rows =
        List.of(
            row("mortise", "plain", 128, 900.0),
            row("mortise", "plain", 2, 10.0),
            row("mortise", "fair", 2, 70.0),
            row("redisson", "plain", 2, 80.0));
    assertEquals(
        Map.of(2.0, 10.0, 128.0, 900.0),
        GrowthCharts.points(GROWTH, rows, LockLibrary.MORTISE, "plain"));
    assertEquals(
        List.of(2.0, 128.0),
        List.copyOf(GrowthCharts.points(GROWTH, rows, LockLibrary.MORTISE, "plain").keySet()));
  }

  @Test
  void aZeroHasNoPointOnALogarithmicAxis() {
    List<Map<String, @Nullable Object>> rows =
        List.of(row("mortise", "plain", 2, 0.0), row("mortise", "plain", 8, 1.0));
    assertEquals(Map.of(8.0, 1.0), GrowthCharts.points(GROWTH, rows, LockLibrary.MORTISE, "plain"));
  }

  @Test
  void aChartHasALineForEachLibraryAndSeriesWithTwoSizes(@TempDir Path folder) throws Exception {
    List<Map<String, @Nullable Object>> rows =
        List.of(
            row("mortise", "plain", 2, 10.0),
            row("mortise", "plain", 128, 10.0),
            row("mortise", "fair", 2, 10.0),
            row("redisson", "plain", 2, 80.0),
            row("redisson", "plain", 128, 8_000.0));
    Map<Double, Double> ours = Map.of(2.0, 10.0, 128.0, 10.0);
    Map<Double, Double> theirs = Map.of(2.0, 80.0, 128.0, 8_000.0);
    assertEquals(
        Map.of(
            LockLibrary.MORTISE, Map.of("plain", ours),
            LockLibrary.REDISSON, Map.of("plain", theirs)),
        GrowthCharts.lines(GROWTH, rows));
    assertTrue(GrowthCharts.write("crowd: wait", GROWTH, rows, folder.resolve("crowd-p99_us")));
    BufferedImage chart = ImageIO.read(folder.resolve("crowd-p99_us.png").toFile());
    assertEquals(820, chart.getWidth());
  }

  @Test
  void oneSizeMakesNoChart(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("none");
    assertFalse(GrowthCharts.write("x", GROWTH, List.of(row("mortise", "plain", 2, 10.0)), file));
    assertFalse(Files.exists(folder.resolve("none.png")));
  }

  private static Map<String, @Nullable Object> row(
      String library, String lock, int clients, double p99) {
    return Map.of("subject", library, "lock", lock, "clients", clients, "p99_us", p99);
  }
}
