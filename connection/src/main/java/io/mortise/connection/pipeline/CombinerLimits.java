package io.mortise.connection.pipeline;

/**
 * The limits of a {@link CommandCombiner}.
 *
 * @param maxBatches how many batches may be under way at a time
 * @param maxQueueNanos the time after which a thread starts a batch, however many are under way, if
 *     a connection is free
 */
public record CombinerLimits(int maxBatches, long maxQueueNanos) {
  public static final int DEFAULT_MAX_BATCHES = 4;
  static final long MAX_QUEUE_MICROS = 1_000;

  static final CombinerLimits DEFAULTS =
      new CombinerLimits(DEFAULT_MAX_BATCHES, MAX_QUEUE_MICROS * 1_000);
}
