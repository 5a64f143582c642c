package io.mortise.benchmarks.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Histograms of threads and processes become one. */
class LatenciesTest {
  private static final double THREE_DIGITS = 0.001;

  @Test
  void percentilesOfTheSumAreNotMeansOfPercentiles() {
    Latencies many = new Latencies();
    for (int i = 0; i < 990; i++) {
      many.add(10_000);
    }
    Latencies few = new Latencies();
    for (int i = 0; i < 10; i++) {
      few.add(9_000_000);
    }
    many.add(few);

    assertEquals(1000, many.count());
    assertClose(10, many.micros(50));
    assertClose(10, many.micros(99));
    assertClose(9_000, many.micros(99.5));
    assertClose(9_000, many.maxMicros());
  }

  @Test
  void whatAnotherProcessSendsIsTheSameAndCanBeAddedTo() {
    Latencies sent = new Latencies();
    sent.add(1_000);
    sent.add(3_000_000_000L);
    Latencies received = Latencies.decode(sent.encode());
    assertEquals(2, received.count());
    assertClose(1, received.micros(50));
    assertClose(3_000_000, received.maxMicros());

    Latencies longer = new Latencies();
    longer.add(60_000_000_000L);
    received.add(longer);
    assertClose(60_000_000, received.maxMicros());
  }

  @Test
  void ofNothingThereIsNoPercentile() {
    assertEquals(Double.NaN, new Latencies().micros(50));
    assertEquals(Double.NaN, new Latencies().maxMicros());
  }

  private static void assertClose(double expected, double actual) {
    assertEquals(expected, actual, expected * THREE_DIGITS);
  }
}
