package io.mortise.schedules.model;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import java.util.EnumMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;

/** A thread of a client that makes the calls of a sequence, one after the other. */
final class Actor {
  /**
   * The end of a call.
   *
   * @param value what it returned; null for nothing, and after an exception
   * @param interrupted whether the thread was interrupted when the call ended
   */
  record Outcome(Actor actor, Object value, Throwable thrown, boolean interrupted, long atNanos) {}

  private static final Callable<Object> END = () -> null;

  final int index;
  final LockClient client;

  /** Whether the next check asks for its hold counts of what it has lost too. */
  boolean asksForAll;

  final Map<Target, DistributedLock> locks = new EnumMap<>(Target.class);
  private final BlockingQueue<Callable<Object>> calls = new LinkedBlockingQueue<>();
  private final Thread thread;

  /**
   * @param outcomes gets the end of each call
   */
  Actor(int index, LockClient client, Queue<Outcome> outcomes) {
    this.index = index;
    this.client = client;
    for (Target target : Target.values()) {
      locks.put(target, target.of(client));
    }
    this.thread = new Thread(() -> run(outcomes), "actor " + index);
    thread.start();
  }

  private void run(Queue<Outcome> outcomes) {
    try {
      for (Callable<Object> call = calls.take(); call != END; call = calls.take()) {
        outcomes.add(outcome(call));
      }
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted between two calls", e);
    }
  }

  private Outcome outcome(Callable<Object> call) {
    Object value = null;
    Throwable thrown = null;
    try {
      value = call.call();
    } catch (Exception | AssertionError e) {
      thrown = e;
    }
    return new Outcome(this, value, thrown, Thread.interrupted(), System.nanoTime());
  }

  void begin(Callable<Object> call) {
    calls.add(call);
  }

  void interrupt() {
    thread.interrupt();
  }

  void end() {
    calls.add(END);
  }

  @Override
  public String toString() {
    return "actor " + index;
  }
}
