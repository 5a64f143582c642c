package io.mortise.benchmarks;

/** How far a case is. */
public interface Progress extends AutoCloseable {

  /** So many turns there will be, the warm-up counted. */
  void expect(long turns);

  /** A turn begins. */
  void turn(String what);

  /** It is over. */
  void done();

  @Override
  void close();
}
