package io.mortise.connection.pipeline;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Reply;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;

/**
 * One command of one thread, which may be sent in a batch of another thread; see {@link
 * CommandCombiner}.
 *
 * <p><b>Threads.</b> The command waits until one thread {@linkplain #claim claims} it, or its own
 * thread withdraws it; a compare-and-set decides. The thread that claimed it writes the outcome,
 * once; its own thread reads it. Any thread may signal.
 */
public final class PendingCommand {
  private enum State {
    WAITING,
    CLAIMED,
    WITHDRAWN
  }

  private final Thread thread = Thread.currentThread();
  private final CommandArguments command;
  private final int bytes;
  private final Deadline deadline;
  private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
  private final AtomicBoolean signalled = new AtomicBoolean();
  private volatile @Nullable Object outcome;
  private volatile boolean late;
  private volatile boolean everSignalled;
  private volatile boolean parked;

  /** Its own thread sets it before any other thread knows of the command. */
  private Deadline queueEnd;

  /** Only its own thread uses it. */
  private boolean interrupted;

  /**
   * @param bytes the approximate length of the command on the wire
   * @param deadline when its thread stops waiting
   */
  public PendingCommand(CommandArguments command, int bytes, Deadline deadline) {
    this.command = command;
    this.bytes = bytes;
    this.deadline = deadline;
    this.queueEnd = deadline;
  }

  CommandArguments command() {
    return command;
  }

  int bytes() {
    return bytes;
  }

  Deadline deadline() {
    return deadline;
  }

  boolean isWaiting() {
    return state.get() == State.WAITING;
  }

  /** Claims the command; returns false when another thread has, or it was withdrawn. */
  boolean claim() {
    return state.compareAndSet(State.WAITING, State.CLAIMED);
  }

  /** Withdraws the command; returns false when a thread has claimed it. */
  boolean withdraw() {
    return state.compareAndSet(State.WAITING, State.WITHDRAWN);
  }

  /** Sets how long the command may queue. Only its own thread may call it, before it queues. */
  void queueUntil(Deadline end) {
    queueEnd = end;
  }

  Deadline queueEnd() {
    return queueEnd;
  }

  /** Notes that the command has queued for too long; only its own thread may call it. */
  void markLate() {
    late = true;
  }

  /** Returns whether its own thread has noted that the command has queued for too long. */
  boolean isMarkedLate() {
    return late;
  }

  /** Returns whether the command has queued for too long: its thread may not run, to note it. */
  boolean isLate() {
    return late || queueEnd.hasPassed();
  }

  boolean isAnswered() {
    return outcome != null;
  }

  void answer(Reply reply) {
    complete(reply);
  }

  void fail(CommandException fault) {
    complete(fault);
  }

  private void complete(Object result) {
    outcome = result;
    wake();
  }

  /**
   * Makes its thread look whether it may start a batch. Returns false when the thread has still to
   * do so for an earlier signal.
   */
  boolean signal() {
    everSignalled = true;
    boolean first = !signalled.getAndSet(true);
    wake();
    return first;
  }

  /** Returns whether the command was ever signalled. */
  boolean wasSignalled() {
    return everSignalled;
  }

  /**
   * Unparks its thread. The caller has published a signal or an outcome before it reads {@code
   * parked}, and its thread sets {@code parked} before it looks for them: one of the two sees the
   * other.
   */
  private void wake() {
    if (parked) {
      LockSupport.unpark(thread);
    }
  }

  /**
   * Waits until the command is signalled or answered, for at most the given time; may also return
   * without a cause. Only its own thread may call it.
   */
  void await(long nanos) {
    parked = true;
    if (!isSignalledOrAnswered()) {
      LockSupport.parkNanos(this, nanos);
      interrupted |= Thread.interrupted();
    }
    parked = false;
  }

  private boolean isSignalledOrAnswered() {
    return signalled.get() || isAnswered();
  }

  /** Restores the interrupt status of its thread, which {@link #await} has cleared. */
  void restoreInterrupt() {
    if (interrupted) {
      thread.interrupt();
    }
  }

  /**
   * Returns whether the command was signalled since the last call, or has its answer. Only its own
   * thread may call it, and looks afterwards: a signal in between may be lost here.
   */
  boolean consumeSignal() {
    return signalled.getAndSet(false) || isAnswered();
  }

  /** Returns the answer, which has to be there. */
  Reply reply() throws CommandException {
    if (outcome instanceof CommandException fault) {
      throw fault;
    }
    if (outcome instanceof Reply reply) {
      return reply;
    }
    throw new IllegalStateException("there is no answer yet");
  }
}
