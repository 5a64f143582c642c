package io.mortise.benchmarks.report;

/** Shows the progress of a case. */
public interface CaseProgress extends AutoCloseable {

  /** Sets the number of turns, the warm-up included. */
  void expect(long turns);

  /** Shows that a turn begins. */
  void turn(String what);

  /** Shows that it is over. */
  void done();

  @Override
  void close();
}
