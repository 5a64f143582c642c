package io.mortise.schedules.runtime;

import java.time.Instant;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * One execution of a scenario in which one thread runs at a time. A thread may lose its turn at
 * each <em>step</em>, which rewritten code has before every access to what threads share, and loses
 * it where it blocks. Time is virtual: a step takes a microsecond, and when all threads wait, time
 * moves on to the first of them that waits with a time limit.
 *
 * <p>The seed decides everything: the turns, the ids, the jitter. The same seed gives the same
 * execution again.
 *
 * <p><b>An execution fails</b> when a thread fails, when all threads wait without a time limit, or
 * when it does not end. Its threads are then left where they are, for ever.
 *
 * <p><b>Threads.</b> The thread that runs at the moment uses all of it; handing over the turn
 * orders the accesses. {@code unpark} and {@code interrupt} may come from any thread.
 */
public final class Schedule {
  private static final long START_NANOS = 1_000_000_000_000L;
  private static final long EPOCH_MILLIS = 1_900_000_000_000L;
  private static final long STEP_NANOS = 1_000;
  private static final long MAX_REAL_SECONDS = 60;

  private final Map<Thread, ControlledThread> threads = new ConcurrentHashMap<>();
  private final List<ControlledThread> live = new ArrayList<>();
  private final CountDownLatch finished = new CountDownLatch(1);
  private final Monitors monitors = new Monitors();
  private final IdentityHashMap<Object, Integer> numbers = new IdentityHashMap<>();
  private final StringBuilder trace = new StringBuilder();
  private final Random random;
  private final Strategy strategy;
  private final int maxSteps;
  private final boolean traced;

  private ControlledThread running;
  private int started;
  private int steps;
  private long nowNanos = START_NANOS;
  private volatile Throwable failure;

  /**
   * @param expectedSteps how many steps an execution has, approximately; a hundred times as many
   *     are a failure
   * @param traced whether the report of a failure contains each switch
   */
  public Schedule(long seed, int expectedSteps, boolean traced) {
    random = new Random(seed * 0x9E3779B97F4A7C15L);
    strategy = new Strategy(random, expectedSteps);
    maxSteps = expectedSteps * 100;
    this.traced = traced;
  }

  /**
   * Runs the scenario, and all threads that it starts, to their ends.
   *
   * @return the failure, or null
   */
  public Throwable run(Runnable scenario) throws InterruptedException {
    Thread root =
        new Thread(
            () -> {
              try {
                scenario.run();
              } catch (Throwable e) {
                fail(e);
              }
            },
            "scenario");
    root.setDaemon(true);
    Hooks.active = this;
    register(root);
    running = live.get(0);
    root.start();
    running.giveTurn();
    if (!finished.await(MAX_REAL_SECONDS, TimeUnit.SECONDS)) {
      return new AssertionError(
          "the running thread blocks where the scheduler does not see it\n" + report(live));
    }
    return failure;
  }

  public int steps() {
    return steps;
  }

  /** Returns the switches of a traced execution, one a line. */
  public String trace() {
    return trace.toString();
  }

  // ---- threads

  ControlledThread register(Thread thread) {
    return threads.computeIfAbsent(
        thread,
        unused -> {
          ControlledThread added = new ControlledThread(this, thread, started++);
          strategy.onStart(added);
          live.add(added);
          return added;
        });
  }

  /** Returns the thread that has the turn. Only that thread learns from it what it is. */
  ControlledThread running() {
    return running;
  }

  ControlledThread find(Thread thread) {
    return threads.get(thread);
  }

  /** Waits for the first turn of a thread that begins. */
  void begin(ControlledThread me) {
    me.awaitTurn();
  }

  void end(ControlledThread me) {
    me.ended = true;
    live.remove(me);
    if (live.isEmpty()) {
      finished.countDown();
    } else {
      ControlledThread next = next();
      if (next != null) {
        handOver(me, next);
      }
    }
  }

  /** Ends the execution with a failure; the calling thread goes no further. */
  void fail(Throwable cause) {
    if (failure == null) {
      failure = cause;
    }
    finished.countDown();
    ControlledThread me = find(Thread.currentThread());
    me.inScheduler = true;
    me.awaitTurn();
  }

  // ---- turns

  /** A step of the running thread, after which another one may run. */
  void step(ControlledThread me) {
    nowNanos += STEP_NANOS + strategy.pauseNanos(++steps);
    if (steps > maxSteps) {
      fail(new AssertionError("no end after %d steps\n%s".formatted(steps, report(live))));
    }
    if (live.size() > 1 && strategy.mayEndTurn(me, steps)) {
      passTurn(me);
    }
  }

  void yieldTurn(ControlledThread me) {
    strategy.onYield(me);
    step(me);
  }

  /**
   * Blocks the running thread.
   *
   * @param readiness whether it can go on
   * @param untilNanos the virtual time at which it goes on all the same
   */
  void block(ControlledThread me, String in, BooleanSupplier readiness, long untilNanos) {
    me.readiness = readiness;
    me.wakeAtNanos = untilNanos;
    me.blockedIn = in;
    me.repeats.end();
    passTurn(me);
    me.readiness = null;
    me.wakeAtNanos = ControlledThread.NEVER;
  }

  private void passTurn(ControlledThread me) {
    ControlledThread next = next();
    if (next != me && next != null) {
      handOver(me, next);
      me.awaitTurn();
    }
  }

  private void handOver(ControlledThread me, ControlledThread next) {
    if (traced) {
      trace.append(
          "%6d %,13d us  %s -> %s  %s%n"
              .formatted(steps, (nowNanos - START_NANOS) / 1000, me, next, place(me)));
    }
    me.repeats.end();
    running = next;
    next.giveTurn();
  }

  /** Returns the thread that runs next. Moves the time on when all threads wait. */
  private ControlledThread next() {
    ControlledThread next = strategy.choose(live, nowNanos);
    while (next == null) {
      long first = ControlledThread.NEVER;
      for (ControlledThread each : live) {
        first = Math.min(first, each.wakeAtNanos);
      }
      if (first == ControlledThread.NEVER) {
        fail(new AssertionError("all threads wait for ever\n" + report(live)));
        return null;
      }
      nowNanos = first;
      next = strategy.choose(live, nowNanos);
    }
    return next;
  }

  // ---- for the hooks

  Monitors monitors() {
    return monitors;
  }

  Random random() {
    return random;
  }

  /** Returns a number that only this object has, in place of its identity hash code. */
  int numberOf(Object object) {
    return object == null ? 0 : numbers.computeIfAbsent(object, unused -> numbers.size() + 1);
  }

  long nanoTime() {
    return nowNanos;
  }

  long currentTimeMillis() {
    return EPOCH_MILLIS + (nowNanos - START_NANOS) / 1_000_000;
  }

  Instant instant() {
    return Instant.ofEpochMilli(EPOCH_MILLIS).plusNanos(nowNanos - START_NANOS);
  }

  /** Returns the virtual time at the end of a wait of that length. */
  long after(long nanos) {
    return nanos > ControlledThread.NEVER - nowNanos ? ControlledThread.NEVER : nowNanos + nanos;
  }

  private static String place(ControlledThread thread) {
    for (StackTraceElement frame : thread.thread.getStackTrace()) {
      String name = frame.getClassName();
      if (name.startsWith("io.mortise.") && !name.startsWith("io.mortise.schedules.runtime.")) {
        return (thread.readiness == null ? "" : thread.blockedIn + " ") + frame;
      }
    }
    return "";
  }

  private static String report(List<ControlledThread> threads) {
    StringBuilder report = new StringBuilder();
    for (ControlledThread each : threads) {
      report.append(each);
      if (each.readiness != null) {
        report.append(", blocked in ").append(each.blockedIn);
      }
      report.append('\n');
      for (StackTraceElement frame : each.thread.getStackTrace()) {
        if (!frame.getClassName().startsWith("io.mortise.schedules.runtime.")) {
          report.append("    at ").append(frame).append('\n');
        }
      }
    }
    return report.toString();
  }
}
