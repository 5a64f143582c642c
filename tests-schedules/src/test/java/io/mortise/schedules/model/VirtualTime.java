package io.mortise.schedules.model;

import io.mortise.schedules.model.Ends.Window;

/**
 * Lets time pass, during which waiters are watched. It never stops near the end of a lease or of a
 * wait, where both results are right: it goes on until that is over.
 */
final class VirtualTime {
  private static final long MILLI = 1_000_000L;

  /** How often waiters are looked at while time passes. */
  private static final long LOOK_NANOS = 200 * MILLI;

  /** For how long a call is watched that may have to wait. */
  private static final long WATCH_NANOS = 50 * MILLI;

  /** For how long a waiter may look for the lock, if no message tells it that it is free. */
  private static final long LATENESS_NANOS = 9_000 * MILLI;

  private final Model model;
  private final Rules rules;
  private final Ends ends;
  private final Outcomes outcomes;

  VirtualTime(Model model, Rules rules, Ends ends, Outcomes outcomes) {
    this.model = model;
    this.rules = rules;
    this.ends = ends;
    this.outcomes = outcomes;
  }

  private static long now() {
    return System.nanoTime();
  }

  /** Lets time pass, and goes on to where it is certain what holds. */
  void pass(long nanos) throws InterruptedException {
    long until = now() + nanos;
    while (true) {
      Window next = ends.firstWindow(now());
      boolean inside = next != null && next.start() <= now();
      long to = inside ? next.end() + MILLI : next == null ? until : Math.min(until, next.start());
      long left = to - now();
      if (left <= 0 && !inside && to == until) {
        return;
      }
      // what ends inside a window is judged after it
      long step = inside || model.waiters.isEmpty() ? left : Math.min(left, LOOK_NANOS);
      Thread.sleep(Math.max(0, step) / MILLI + 1);
      outcomes.update();
    }
  }

  /** Lets time pass until a call can be made. */
  void quiesce() throws InterruptedException {
    for (Window next = ends.firstWindow(now());
        next != null && next.start() < now() + Outcomes.STEP_NANOS;
        next = ends.firstWindow(now())) {
      pass(Math.max(0, next.end() - now()) + MILLI);
      settle();
    }
  }

  /** Waits until nothing more has to happen. */
  void settle() throws InterruptedException {
    long began = now();
    pass(WATCH_NANOS);
    while (true) {
      long now = now();
      Waiter late =
          model.waiters.stream().filter(w -> rules.hasToEnd(w, now)).findFirst().orElse(null);
      if (late == null) {
        return;
      }
      if (now - began > LATENESS_NANOS) {
        throw new AssertionError(
            "%s waits on in %s, but the lock is free, or the wait is over"
                .formatted(late.actor, late.call));
      }
      pass(WATCH_NANOS);
    }
  }
}
