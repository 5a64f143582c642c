package io.mortise.schedules.runtime;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.IdentityHashMap;

/**
 * The monitors of the objects on which rewritten code synchronizes and waits. They replace those of
 * the JVM, for which a thread would block without the scheduler.
 *
 * <p><b>Threads.</b> Belongs to the thread that runs at the moment.
 */
final class Monitors {
  private static final class Monitor {
    ControlledThread owner;
    int depth;

    /** The threads that block for it or wait in it: as long as there are any, it is kept. */
    int interested;

    final Deque<Waiter> waiters = new ArrayDeque<>();
  }

  private static final class Waiter {
    boolean notified;
  }

  private final IdentityHashMap<Object, Monitor> monitors = new IdentityHashMap<>();

  void enter(ControlledThread me, Object object) {
    Monitor monitor = monitors.computeIfAbsent(object, unused -> new Monitor());
    acquire(me, monitor);
    monitor.depth++;
  }

  private static void acquire(ControlledThread me, Monitor monitor) {
    if (monitor.owner != me && monitor.owner != null) {
      monitor.interested++;
      me.schedule.block(me, "synchronized", () -> monitor.owner == null, ControlledThread.NEVER);
      monitor.interested--;
    }
    monitor.owner = me;
  }

  void exit(ControlledThread me, Object object) {
    Monitor monitor = owned(me, object);
    if (--monitor.depth == 0) {
      monitor.owner = null;
      if (monitor.interested == 0) {
        monitors.remove(object);
      }
    }
  }

  /**
   * Waits as {@link Object#wait(long)} does.
   *
   * @param untilNanos the virtual time at which the wait ends
   */
  void await(ControlledThread me, Object object, long untilNanos) throws InterruptedException {
    Monitor monitor = owned(me, object);
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    int depth = monitor.depth;
    Waiter waiter = new Waiter();
    monitor.waiters.add(waiter);
    monitor.interested++;
    monitor.depth = 0;
    monitor.owner = null;
    me.schedule.block(me, "wait", () -> waiter.notified || me.isInterrupted(), untilNanos);
    monitor.waiters.remove(waiter);
    acquire(me, monitor);
    monitor.depth = depth;
    monitor.interested--;
    if (!waiter.notified && Thread.interrupted()) {
      throw new InterruptedException();
    }
  }

  void notifyOne(ControlledThread me, Object object) {
    Waiter first = owned(me, object).waiters.poll();
    if (first != null) {
      first.notified = true;
    }
  }

  void notifyAll(ControlledThread me, Object object) {
    Deque<Waiter> waiters = owned(me, object).waiters;
    waiters.forEach(waiter -> waiter.notified = true);
    waiters.clear();
  }

  private Monitor owned(ControlledThread me, Object object) {
    Monitor monitor = monitors.get(object);
    if (monitor == null || monitor.owner != me) {
      throw new IllegalMonitorStateException("not the owner of the monitor");
    }
    return monitor;
  }
}
