package io.mortise.schedules.runtime;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * The calls of rewritten code to the scheduler. For a thread that no schedule controls, each method
 * does what the replaced call does, except that monitors have no effect. {@link MapHooks} has the
 * updates of concurrent maps.
 *
 * <p><b>Threads.</b> Any thread may call every method.
 */
public final class Hooks {
  /** The schedule that runs now, or ran last. */
  static volatile Schedule active;

  /** The same as {@link #running()}, and also for a thread that has just given its turn away. */
  private static final ThreadLocal<ControlledThread> CURRENT = new ThreadLocal<>();

  /** A thread of the JDK's own, which waits where no hook is. */
  private static final String JDK_THREAD = "jdk.internal.misc.InnocuousThread";

  private Hooks() {}

  /** Returns the current thread if a schedule controls it and it has the turn; null otherwise. */
  static ControlledThread running() {
    Schedule schedule = active;
    ControlledThread running = schedule == null ? null : schedule.running();
    return running != null && running.thread == Thread.currentThread() ? running : null;
  }

  /** Returns the current thread if a schedule controls it and does not run its own code in it. */
  private static ControlledThread current() {
    ControlledThread me = running();
    return me == null || me.inScheduler ? null : me;
  }

  private static void block(
      ControlledThread me, String in, BooleanSupplier readiness, long untilNanos) {
    me.inScheduler = true;
    me.schedule.block(me, in, readiness, untilNanos);
    me.inScheduler = false;
  }

  // ---- steps

  /**
   * Comes before each access to state that threads share.
   *
   * @param place a number of the place in the code; a thread that repeats one has fewer steps
   */
  public static void step(int place) {
    ControlledThread me = current();
    if (me != null && me.atomicDepth == 0 && !me.repeats.leaveOut(place)) {
      me.inScheduler = true;
      me.schedule.step(me);
      me.inScheduler = false;
    }
  }

  /** A step that is never left out. */
  static void step() {
    ControlledThread me = current();
    if (me != null && me.atomicDepth == 0) {
      me.repeats.end();
      me.inScheduler = true;
      me.schedule.step(me);
      me.inScheduler = false;
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // it stands for that call, which the program made
  public static void yieldTurn() {
    ControlledThread me = current();
    if (me == null) {
      Thread.yield();
      return;
    }
    me.inScheduler = true;
    me.schedule.yieldTurn(me);
    me.inScheduler = false;
  }

  /**
   * Begins a section in which the thread keeps its turn unless it blocks, because it has locks of
   * the JVM: the initialization of a class, or the update of a concurrent map.
   */
  public static void beginAtomic() {
    ControlledThread me = current();
    if (me != null) {
      me.atomicDepth++;
    }
  }

  public static void endAtomic() {
    ControlledThread me = current();
    if (me != null && me.atomicDepth > 0) {
      me.atomicDepth--;
    }
  }

  // ---- threads

  /** At the entry of {@code Thread.start}. */
  public static void starting(Thread thread) {
    ControlledThread me = current();
    if (me != null && !thread.getClass().getName().equals(JDK_THREAD)) {
      me.inScheduler = true;
      me.schedule.register(thread);
      me.inScheduler = false;
    }
  }

  /** At the entry of {@code Thread.run}. */
  public static void begin(Thread thread) {
    Schedule schedule = active;
    if (schedule == null || thread != Thread.currentThread() || CURRENT.get() != null) {
      return;
    }
    ControlledThread me = schedule.find(thread);
    if (me != null) {
      CURRENT.set(me);
      me.inScheduler = true;
      schedule.begin(me);
      me.inScheduler = false;
    }
  }

  /** At the entry of {@code Thread.exit}, which the JVM calls. */
  public static void end() {
    ControlledThread me = current();
    if (me != null) {
      me.inScheduler = true;
      me.schedule.end(me);
    }
  }

  /** At the entry of {@code Thread.dispatchUncaughtException}, which the JVM calls. */
  public static void uncaught(Throwable failure) {
    ControlledThread me = current();
    if (me != null) {
      me.schedule.fail(failure);
    }
  }

  /** A thread has ended with its last turn; the JVM's own answer comes some time later. */
  public static boolean isAlive(Thread thread) {
    ControlledThread other = controlled(thread);
    return other == null ? thread.isAlive() : !other.ended;
  }

  /** Returns the number of the thread in its schedule: the JVM counts all threads. */
  public static long threadId(Thread thread) {
    ControlledThread other = controlled(thread);
    return other == null ? thread.getId() : other.index + 1;
  }

  private static ControlledThread controlled(Thread thread) {
    ControlledThread me = running();
    return me == null ? null : me.schedule.find(thread);
  }

  public static void join(Thread thread) throws InterruptedException {
    join(thread, 0);
  }

  public static void join(Thread thread, long millis) throws InterruptedException {
    ControlledThread me = current();
    ControlledThread other = me == null ? null : me.schedule.find(thread);
    if (other == null) {
      thread.join(millis);
      return;
    }
    long untilNanos =
        millis == 0 ? ControlledThread.NEVER : me.schedule.after(MILLISECONDS.toNanos(millis));
    block(me, "join", () -> other.ended || me.isInterrupted(), untilNanos);
    if (!other.ended && Thread.interrupted()) {
      throw new InterruptedException();
    }
  }

  public static void sleep(long millis) throws InterruptedException {
    sleep(MILLISECONDS, millis);
  }

  public static void sleep(TimeUnit unit, long time) throws InterruptedException {
    ControlledThread me = current();
    if (me == null) {
      unit.sleep(time);
      return;
    }
    long untilNanos = me.schedule.after(unit.toNanos(time));
    block(me, "sleep", me::isInterrupted, untilNanos);
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }

  // ---- parking

  /** At the entry of {@code LockSupport.park}; returns whether it is done. */
  public static boolean park() {
    ControlledThread me = current();
    return me != null && park(me, "park", ControlledThread.NEVER);
  }

  /** At the entry of {@code LockSupport.parkNanos}; returns whether it is done. */
  public static boolean parkNanos(long nanos) {
    ControlledThread me = current();
    return me != null && (nanos <= 0 || park(me, "parkNanos", me.schedule.after(nanos)));
  }

  /** At the entry of {@code LockSupport.parkUntil}; returns whether it is done. */
  public static boolean parkUntil(long epochMillis) {
    ControlledThread me = current();
    return me != null
        && parkNanos(MILLISECONDS.toNanos(epochMillis - me.schedule.currentTimeMillis()));
  }

  private static boolean park(ControlledThread me, String in, long untilNanos) {
    block(me, in, () -> me.permit || me.isInterrupted(), untilNanos);
    me.permit = false;
    return true;
  }

  /**
   * At the entry of {@code LockSupport.unpark}; returns whether it is done. The scheduler's own
   * semaphores need the real one.
   */
  public static boolean unpark(Thread thread) {
    ControlledThread me = CURRENT.get();
    Schedule schedule = active;
    ControlledThread other = schedule == null || thread == null ? null : schedule.find(thread);
    if (other == null || (me != null && me.inScheduler)) {
      return false;
    }
    if (me == null) {
      other.permit |= other.readiness != null;
      return false;
    }
    other.permit = true;
    return true;
  }

  // ---- monitors

  public static void monitorEnter(Object object) {
    ControlledThread me = current();
    if (me != null) {
      step();
      me.inScheduler = true;
      me.schedule.monitors().enter(me, object);
      me.inScheduler = false;
    }
  }

  public static void monitorExit(Object object) {
    ControlledThread me = current();
    if (me != null) {
      me.schedule.monitors().exit(me, object);
    }
  }

  public static void await(Object object) throws InterruptedException {
    await(object, 0);
  }

  public static void await(Object object, long millis) throws InterruptedException {
    ControlledThread me = current();
    if (me == null) {
      throw new IllegalMonitorStateException("a thread without a schedule waits");
    }
    long untilNanos =
        millis == 0 ? ControlledThread.NEVER : me.schedule.after(MILLISECONDS.toNanos(millis));
    me.inScheduler = true;
    try {
      me.schedule.monitors().await(me, object, untilNanos);
    } finally {
      me.inScheduler = false;
    }
  }

  public static void notifyOne(Object object) {
    ControlledThread me = current();
    if (me != null) {
      me.schedule.monitors().notifyOne(me, object);
    }
  }

  public static void notifyAll(Object object) {
    ControlledThread me = current();
    if (me != null) {
      me.schedule.monitors().notifyAll(me, object);
    }
  }
}
