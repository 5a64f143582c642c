package io.mortise.benchmarks.measure;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/**
 * A histogram of times in nanoseconds, with three digits. Histograms of threads and processes are
 * added up, so that a percentile is that of all cycles and not a mean of percentiles.
 *
 * <p><b>Threads.</b> One thread at a time.
 */
public final class Latencies {
  private static final int DIGITS = 3;
  private static final double NANOS_PER_MICRO = 1e3;

  private final Histogram histogram;

  /** An empty histogram. */
  public Latencies() {
    this(new Histogram(DIGITS));
  }

  private Latencies(Histogram histogram) {
    this.histogram = histogram;
  }

  /** Adds one time. */
  public void add(long nanos) {
    histogram.recordValue(Math.max(0, nanos));
  }

  /** Adds all times of another histogram. */
  public void add(Latencies other) {
    histogram.add(other.histogram);
  }

  /** Returns the number of times. */
  public long count() {
    return histogram.getTotalCount();
  }

  /** Returns a percentile, in µs; NaN if the histogram is empty. */
  public double micros(double percentile) {
    return count() == 0 ? Double.NaN : histogram.getValueAtPercentile(percentile) / NANOS_PER_MICRO;
  }

  /** Returns the longest time, in µs; NaN if the histogram is empty. */
  public double maxMicros() {
    return count() == 0 ? Double.NaN : histogram.getMaxValue() / NANOS_PER_MICRO;
  }

  /** Encodes it as text, for another process. */
  public String encode() {
    ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
    int length = histogram.encodeIntoCompressedByteBuffer(buffer);
    return Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), length));
  }

  /** Decodes the text of {@link #encode}. */
  public static Latencies decode(String text) {
    try {
      Histogram histogram =
          Histogram.decodeFromCompressedByteBuffer(
              ByteBuffer.wrap(Base64.getDecoder().decode(text)), 0);
      histogram.setAutoResize(true);
      return new Latencies(histogram);
    } catch (DataFormatException e) {
      throw new IllegalArgumentException("not a histogram", e);
    }
  }
}
