package io.mortise.benchmarks.measure;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/**
 * Times, as a histogram of nanoseconds with three digits. Histograms of threads and processes are
 * added up, so that a percentile is that of all cycles and not a mean of percentiles. Used by one
 * thread at a time.
 */
public final class Latencies {
  private static final int DIGITS = 3;
  private static final double NANOS_PER_MICRO = 1e3;

  private final Histogram histogram;

  /** None yet. */
  public Latencies() {
    this(new Histogram(DIGITS));
  }

  private Latencies(Histogram histogram) {
    this.histogram = histogram;
  }

  /** Adds one. */
  public void add(long nanos) {
    histogram.recordValue(Math.max(0, nanos));
  }

  /** Adds all of another. */
  public void add(Latencies other) {
    histogram.add(other.histogram);
  }

  /** How many. */
  public long count() {
    return histogram.getTotalCount();
  }

  /** The time that so many per cent do not exceed, in µs; NaN if there is none. */
  public double micros(double percentile) {
    return count() == 0 ? Double.NaN : histogram.getValueAtPercentile(percentile) / NANOS_PER_MICRO;
  }

  /** The longest, in µs; NaN if there is none. */
  public double maxMicros() {
    return count() == 0 ? Double.NaN : histogram.getMaxValue() / NANOS_PER_MICRO;
  }

  /** As text, for another process. */
  public String encode() {
    ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
    int length = histogram.encodeIntoCompressedByteBuffer(buffer);
    return Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), length));
  }

  /** Reads {@link #encode}. */
  public static Latencies decode(String text) {
    try {
      Histogram histogram =
          Histogram.decodeFromCompressedByteBuffer(
              ByteBuffer.wrap(Base64.getDecoder().decode(text)), 0);
      histogram.setAutoResize(true);
      return new Latencies(histogram);
    } catch (DataFormatException e) {
      throw new IllegalArgumentException("that is no histogram", e);
    }
  }
}
