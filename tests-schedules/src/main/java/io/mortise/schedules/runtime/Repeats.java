package io.mortise.schedules.runtime;

import java.util.Random;

/**
 * Decides which steps a thread leaves out in a loop over many variables, as over the slots of a
 * timing wheel, so that most steps of an execution are not in such loops.
 *
 * <p>A thread repeats a place in the code if it has had no other step there and no other thread has
 * run meanwhile. The first repetitions have their steps. Of the later ones the seed chooses some,
 * so another thread may run between any two of them in some execution.
 *
 * <p><b>Threads.</b> Belongs to the thread whose steps it counts.
 */
final class Repeats {
  private static final int NOWHERE = 0;

  /** How many repetitions in a row have their steps. */
  private static final int FIRST = 3;

  /** Between two of the later steps are fewer repetitions than that. */
  private static final int MAX_LEFT_OUT = 32;

  private final Random random;
  private int place = NOWHERE;
  private int count;
  private int leaveOut;

  Repeats(Random random) {
    this.random = random;
  }

  /** Returns whether the step at that place is left out. */
  boolean leaveOut(int at) {
    if (at != place) {
      place = at;
      count = 0;
      leaveOut = 0;
      return false;
    }
    if (++count <= FIRST) {
      return false;
    }
    if (leaveOut > 0) {
      leaveOut--;
      return true;
    }
    leaveOut = random.nextInt(MAX_LEFT_OUT);
    return false;
  }

  /** The next step is no repetition. */
  void end() {
    place = NOWHERE;
  }
}
