package io.mortise.schedules.runtime;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * Decides which thread runs next. A seed gives one of two strategies, and all that it decides.
 *
 * <p><i>Priorities</i> (probabilistic concurrency testing): the threads have random priorities, and
 * at a few random steps the running one falls to the lowest. It finds defects that need few
 * switches at the right places. <i>A random walk</i> switches at each step with a probability, and
 * finds defects that need many.
 *
 * <p>The whole process stands still at up to three steps, so that timers are due when it goes on.
 *
 * <p><b>Threads.</b> Belongs to the thread that runs at the moment.
 */
final class Strategy {
  private static final int MAX_CHANGES = 5;
  private static final int MAX_PAUSES = 3;

  /** Pauses last from 2^13 to 2^26 ns: from 8 us to 67 ms. */
  private static final int MIN_PAUSE_EXPONENT = 13;

  private static final int MAX_PAUSE_EXPONENT = 26;

  private final Random random;

  /** The steps at which the running thread falls; null with a random walk. */
  private final Set<Integer> changes;

  private final double switchProbability;
  private final Set<Integer> pauses = new HashSet<>();
  private final List<ControlledThread> candidates = new ArrayList<>();
  private long lowest;

  /**
   * @param expectedSteps how many steps an execution has, approximately
   */
  Strategy(Random random, int expectedSteps) {
    this.random = random;
    int pauseCount = random.nextInt(MAX_PAUSES + 1);
    for (int i = 0; i < pauseCount; i++) {
      pauses.add(random.nextInt(expectedSteps));
    }
    if (random.nextInt(3) > 0) {
      changes = new HashSet<>();
      int count = random.nextInt(MAX_CHANGES + 1);
      for (int i = 0; i < count; i++) {
        changes.add(random.nextInt(expectedSteps));
      }
      switchProbability = 0;
    } else {
      changes = null;
      switchProbability = 1.0 / (1 << (2 + random.nextInt(6)));
    }
  }

  /** Returns for how long the process stands still at a step, as in a garbage collection. */
  long pauseNanos(int step) {
    if (!pauses.contains(step)) {
      return 0;
    }
    int exponent = MIN_PAUSE_EXPONENT + random.nextInt(MAX_PAUSE_EXPONENT - MIN_PAUSE_EXPONENT + 1);
    return 1L << exponent;
  }

  void onStart(ControlledThread started) {
    started.priority = random.nextInt(Integer.MAX_VALUE);
  }

  /** A thread gives way: the others run first. */
  void onYield(ControlledThread yielding) {
    yielding.priority = --lowest;
  }

  /** Returns whether a step of the running thread may end its turn. */
  boolean mayEndTurn(ControlledThread running, int step) {
    if (changes == null) {
      return random.nextDouble() < switchProbability;
    }
    if (changes.contains(step)) {
      running.priority = --lowest;
    }
    return true;
  }

  /** Chooses one of the threads that can run; null if there is none. */
  ControlledThread choose(List<ControlledThread> threads, long nowNanos) {
    return changes == null ? chooseAny(threads, nowNanos) : chooseFirst(threads, nowNanos);
  }

  private ControlledThread chooseAny(List<ControlledThread> threads, long nowNanos) {
    candidates.clear();
    for (ControlledThread each : threads) {
      if (each.canRun(nowNanos)) {
        candidates.add(each);
      }
    }
    return switch (candidates.size()) {
      case 0 -> null;
      case 1 -> candidates.get(0);
      default -> candidates.get(random.nextInt(candidates.size()));
    };
  }

  /** Asks only the threads before the best one so far: that is most of what a step costs. */
  private static ControlledThread chooseFirst(List<ControlledThread> threads, long nowNanos) {
    ControlledThread first = null;
    for (int i = 0; i < threads.size(); i++) {
      ControlledThread each = threads.get(i);
      if ((first == null || each.priority > first.priority) && each.canRun(nowNanos)) {
        first = each;
      }
    }
    return first;
  }
}
