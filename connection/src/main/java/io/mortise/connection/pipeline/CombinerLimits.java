package io.mortise.connection.pipeline;

/**
 * Who may go, see {@link CommandCombiner}.
 *
 * @param atATime how many trips may be on the way
 * @param patienceNanos after which a thread goes, whoever else is on the way
 */
public record CombinerLimits(int atATime, long patienceNanos) {
  public static final int AT_A_TIME = 4;
  static final long PATIENCE_MICROS = 1_000;

  static final CombinerLimits USUAL = new CombinerLimits(AT_A_TIME, PATIENCE_MICROS * 1_000);
}
