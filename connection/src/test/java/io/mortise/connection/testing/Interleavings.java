package io.mortise.connection.testing;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jetbrains.lincheck.Lincheck;
import org.jetbrains.lincheck.LincheckAssertionError;

/**
 * Runs a scenario again and again, each time with its threads switched at other places: between any
 * two accesses to what they share, chosen by Lincheck's model checker. A schedule that fails, or in
 * which all threads wait for ever, is printed.
 *
 * <p><b>What a scenario may do.</b> Its threads are those of {@link #race}: Lincheck takes what is
 * known only to a {@code Runnable} inside a plain {@code new Thread(runnable)} for local on JDK 25,
 * and would switch nowhere. Time stands still, so a timed wait does not end by its time. But any
 * park may end without a cause here: what is looked at again after it hides a wake-up that was
 * missed, and needs another test. A scenario keeps nothing from one run to the next.
 *
 * <p><b>What a scenario costs.</b> Lincheck rewrites each class that a scenario uses, and uses
 * {@link java.util.ArrayList} for its own records of each access: a scenario that has one takes two
 * to five times as long. So the fixtures take a {@link #list}.
 */
public final class Interleavings {
  /** How many times as many schedules are to be tried as in the build. */
  private static final int TIMES = Integer.getInteger("interleavings.times", 1);

  /** A part of a scenario. */
  @FunctionalInterface
  public interface Step {
    void run() throws Exception;
  }

  /** A thread that remembers what it failed with. Extends Thread: see above. */
  private static final class Racer extends Thread {
    private final Step step;
    private Throwable failure;

    Racer(Step step) {
      this.step = step;
    }

    @Override
    public void run() {
      try {
        step.run();
      } catch (Throwable e) {
        failure = e;
      }
    }
  }

  private Interleavings() {}

  /**
   * Fails if the scenario fails, or does not end, in one of the schedules.
   *
   * @param schedules how many are tried at most, when no more are asked for
   */
  public static void check(int schedules, Step scenario) {
    initializeLocales();
    Lincheck.runConcurrentTest(
        schedules * TIMES,
        () -> {
          try {
            scenario.run();
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        });
  }

  /** Numbers in messages need them; a racer that is switched away in the middle would hang all. */
  private static void initializeLocales() {
    var unused = String.format("%d", 1);
  }

  /**
   * Fails if the scenario, which has a fault, fails in none of the schedules: this shows that the
   * same scenario finds such a fault in the class itself.
   *
   * @param schedules how many are tried at most
   */
  public static void checkFaulty(int schedules, Step scenario) {
    boolean found = false;
    try {
      check(schedules, scenario);
    } catch (LincheckAssertionError fault) {
      found = true;
    } catch (RuntimeException e) {
      if (!isOfReport(e)) {
        throw e;
      }
      found = true;
    }
    if (!found) {
      throw new AssertionError("the fault was not found in %d schedules".formatted(schedules));
    }
  }

  /**
   * Returns whether Lincheck has found a fault, and failed when it described the schedule: 3.7 does
   * so at times, with an {@link IndexOutOfBoundsException}.
   */
  private static boolean isOfReport(RuntimeException failure) {
    return Arrays.stream(failure.getStackTrace())
        .anyMatch(
            frame ->
                frame.getClassName().equals(LincheckAssertionError.class.getName())
                    && frame.getMethodName().equals("<init>"));
  }

  /** Returns an empty list for a scenario, which is not an {@code ArrayList}: see above. */
  public static <T> List<T> list() {
    return new CopyOnWriteArrayList<>();
  }

  /** Runs the steps at the same time, each on a thread, and waits for all of them. */
  public static void race(Step... steps) throws InterruptedException {
    List<Thread> racers = start(steps);
    for (Thread racer : racers) {
      join(racer);
    }
  }

  /** Starts the steps, each on a thread, to be waited for by {@link #join}. */
  public static List<Thread> start(Step... steps) {
    Thread[] racers = new Thread[steps.length];
    for (int i = 0; i < steps.length; i++) {
      racers[i] = new Racer(steps[i]);
    }
    for (Thread racer : racers) {
      racer.start();
    }
    return List.of(racers);
  }

  /** Waits for the thread, and fails if it has failed. */
  public static void join(Thread racer) throws InterruptedException {
    racer.join();
    Throwable failure = ((Racer) racer).failure;
    if (failure != null) {
      throw new AssertionError(failure);
    }
  }
}
