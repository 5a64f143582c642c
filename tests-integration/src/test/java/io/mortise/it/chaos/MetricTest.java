package io.mortise.it.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.chaos.Metric.Trend;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** A leak is found, and noise is not taken for one. */
class MetricTest {

  @Test
  void whatGrowsInEachRoundGrows() {
    assertTrue(trend(Metric.THREADS, i -> 20 + i).grows());
    assertTrue(trend(Metric.FILES, i -> 100 + 3 * i).grows());
    assertTrue(trend(Metric.HEAP_KIB, i -> 9_000 + 150 * i).grows());
    assertTrue(trend(Metric.OBJECTS, i -> 600 + 50 * i).grows());
    assertTrue(trend(Metric.KEYS, i -> i / 2).grows());
  }

  @Test
  void noiseAndSingleOutliersAreFlat() {
    Random random = new Random(1);
    assertFalse(trend(Metric.THREADS, i -> 20 + random.nextInt(5)).grows());
    assertFalse(trend(Metric.HEAP_KIB, i -> 9_000 + random.nextInt(500)).grows());
    assertFalse(trend(Metric.CONNECTIONS, i -> i % 7 == 6 ? 90 : 12).grows());
  }

  @Test
  void aPoolThatComesBackIsFlat() {
    List<Long> connections = List.of(7L, 9L, 6L, 8L, 14L, 14L, 11L, 13L, 8L);
    assertFalse(Metric.CONNECTIONS.trend(connections).orElseThrow().grows());
  }

  @Test
  void whatGrowsOnlyAtTheBeginningIsFlat() {
    assertFalse(trend(Metric.FILES, i -> Math.min(4, i) * 50L).grows());
  }

  @Test
  void fewSamplesHaveNoTrend() {
    List<Long> few = LongStream.range(1, Metric.MIN_SAMPLES).boxed().toList();
    assertEquals(Optional.empty(), Metric.THREADS.trend(few));
  }

  private static Trend trend(Metric metric, IntToLongFunction sample) {
    return metric
        .trend(IntStream.range(0, 20).mapToObj(sample::applyAsLong).toList())
        .orElseThrow();
  }
}
