package io.mortise.schedules;

import io.mortise.schedules.runtime.Schedule;

/**
 * Runs a scenario again and again, each time with its threads switched at other places. A seed
 * gives an execution, and gives the same one again.
 *
 * <p>{@code -Dschedules=N} runs N executions of each scenario. {@code -Dschedules.seed=S} begins
 * with that seed. {@code -Dschedules.steps=N} says how long an execution is, by which the places of
 * switches are chosen, instead of counting it; a failure names seed and steps.
 */
final class Explorer {
  private static final int EXECUTIONS = Integer.getInteger("schedules", 100);
  private static final long FIRST_SEED = Long.getLong("schedules.seed", 1);
  private static final int STEPS = Integer.getInteger("schedules.steps", 0);

  /** How many steps the first execution may have; it also loads the classes. */
  private static final int FIRST_STEPS = 50_000;

  /** A scenario of a few steps still has some in which to switch. */
  private static final int MIN_STEPS = 10;

  /** A scenario; it begins and ends its world itself. */
  @FunctionalInterface
  interface Scenario {
    void run() throws Exception;
  }

  private Explorer() {}

  /** Fails if the scenario fails in one of the executions. */
  static void explore(Scenario scenario) throws InterruptedException {
    int counted = stepsOf(scenario); // which initializes classes too
    int steps = STEPS == 0 ? counted : STEPS;
    for (long seed = FIRST_SEED; seed < FIRST_SEED + EXECUTIONS; seed++) {
      Schedule schedule = new Schedule(seed, steps, false);
      Throwable failure = schedule.run(() -> run(scenario));
      if (failure != null) {
        throw failed(seed, steps, failure, scenario);
      }
    }
  }

  /**
   * Fails if no execution fails: for a scenario that has a fault, to see that it would be found.
   *
   * @return the seed of the first that fails
   */
  static long exploreFaulty(int executions, Scenario scenario) throws InterruptedException {
    int steps = stepsOf(scenario);
    for (long seed = 1; seed <= executions; seed++) {
      if (new Schedule(seed, steps, false).run(() -> run(scenario)) != null) {
        return seed;
      }
    }
    throw new AssertionError("no failure in %d executions".formatted(executions));
  }

  /**
   * Returns how many steps an execution has, approximately. The second of two counts: the first one
   * initializes classes.
   */
  static int stepsOf(Scenario scenario) throws InterruptedException {
    new Schedule(0, FIRST_STEPS, false).run(() -> run(scenario));
    Schedule second = new Schedule(0, FIRST_STEPS, false);
    second.run(() -> run(scenario));
    return Math.max(MIN_STEPS, second.steps());
  }

  static void run(Scenario scenario) {
    try {
      scenario.run();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** Returns the failure of an execution, with its switches, for which it is repeated. */
  private static AssertionError failed(long seed, int steps, Throwable failure, Scenario scenario)
      throws InterruptedException {
    Schedule again = new Schedule(seed, steps, true);
    Throwable repeated = again.run(() -> run(scenario));
    return new AssertionError(
        "failed with seed %d; to repeat it: -Dschedules=1 -Dschedules.seed=%d -Dschedules.steps=%d%n%s%n%s"
            .formatted(
                seed,
                seed,
                steps,
                repeated == null ? "repeated, it passed:" : "repeated, it failed too:",
                again.trace()),
        failure);
  }
}
