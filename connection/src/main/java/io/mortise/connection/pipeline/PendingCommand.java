package io.mortise.connection.pipeline;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Reply;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;

/**
 * One command of one thread that may go along with the trip of another; see {@link
 * CommandCombiner}.
 *
 * <p>It waits until somebody {@linkplain #claim takes} it, which only one can, or its own thread
 * gives up. The answer is written once, by whoever took it, and read by its own thread.
 */
public final class PendingCommand {
  private enum State {
    WAITS,
    ABOARD,
    LEFT
  }

  private final Thread thread = Thread.currentThread();
  private final CommandArguments command;
  private final int bytes;
  private final long sinceNanos = System.nanoTime();
  private final long deadlineNanos;
  private final AtomicReference<State> state = new AtomicReference<>(State.WAITS);
  private volatile @Nullable Object outcome;
  private volatile boolean called;
  private volatile boolean parked;

  /** Its own thread's. */
  private boolean interrupted;

  /**
   * @param bytes about how long the command is on the wire
   * @param deadlineNanos when its thread stops waiting
   */
  public PendingCommand(CommandArguments command, int bytes, long deadlineNanos) {
    this.command = command;
    this.bytes = bytes;
    this.deadlineNanos = deadlineNanos;
  }

  CommandArguments command() {
    return command;
  }

  int bytes() {
    return bytes;
  }

  long sinceNanos() {
    return sinceNanos;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  boolean isWaiting() {
    return state.get() == State.WAITS;
  }

  /** Takes it along; false when another has, or it left. */
  boolean claim() {
    return state.compareAndSet(State.WAITS, State.ABOARD);
  }

  /** Gives up before anybody has taken it; false when somebody has. */
  boolean withdraw() {
    return state.compareAndSet(State.WAITS, State.LEFT);
  }

  boolean isAnswered() {
    return outcome != null;
  }

  void answer(Reply reply) {
    end(reply);
  }

  void fail(CommandException fault) {
    end(fault);
  }

  private void end(Object how) {
    outcome = how;
    wake();
  }

  /** Has its thread look whether it may go. */
  void signal() {
    called = true;
    wake();
  }

  /** After what is to be seen was written: so either it is seen here, or there. */
  private void wake() {
    if (parked) {
      LockSupport.unpark(thread);
    }
  }

  /**
   * Waits until it is called or answered, for so long at the most; it may also end without a cause.
   * Only by its own thread.
   */
  void await(long nanos) {
    parked = true;
    if (!isWakened()) {
      LockSupport.parkNanos(this, nanos);
      interrupted |= Thread.interrupted();
    }
    parked = false;
  }

  private boolean isWakened() {
    return called || isAnswered();
  }

  /** Gives its thread the status back that {@link #await} has put aside. */
  void restoreInterrupt() {
    if (interrupted) {
      thread.interrupt();
    }
  }

  /**
   * Whether it was called since it was asked this, or has its answer. Only by its own thread, which
   * looks afterwards: a call in between may be forgotten here.
   */
  boolean consumeSignal() {
    if (called) {
      called = false; // not when it was false: a call in between would be lost
      return true;
    }
    return isAnswered();
  }

  /** The answer, when there is one. */
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
