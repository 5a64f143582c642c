package io.mortise.connection.command;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The batches that wait to be sent to one server, the most urgent first, and the number of workers
 * that send them. A worker ends when nothing is left.
 *
 * <p><b>Threads.</b> One thread adds and starts workers; workers take. The monitor guards both: a
 * worker takes the next batch, or ends, in one step, so that a thread that adds a batch and sees a
 * worker knows that it will be taken. If an error ends a worker between two batches, the queue is
 * {@link #isAbandoned abandoned}, until another one is started.
 *
 * <p><b>How many workers.</b> A queue begins with {@value #FIRST_WORKERS}. When batches wait, and
 * the workers have sent fewer than one each in {@value #WINDOW_NANOS} ns, one more begins, and so
 * on up to {@value #MAX_WORKERS}. When the most urgent one has less than {@value #URGENT_NANOS} ns
 * left, one more begins at once.
 *
 * <p><b>Without a connection</b> a worker puts its batch back and ends, if another one is at work.
 * Otherwise those without a connection, which fail at once, would fail the batches that the others
 * could send. But if it has waited for the connection in vain until its time-out, and the server
 * has answered no worker in that time, its batch fails, and with it each one that would not wait
 * longer: otherwise they would wait for a time-out each, and their items would not learn that the
 * server is out of reach.
 *
 * @param <B> a batch
 */
final class BatchQueue<B> {
  /**
   * The workers for a server that answers: two keep it busy. With more of them, all other commands
   * to that server would wait behind as many batches.
   */
  static final int FIRST_WORKERS = 2;

  /**
   * The maximum number of workers, for a server that is far away, and for connections that are
   * silent and look well. With many more, on few processors, each is too slow.
   */
  static final int MAX_WORKERS = 8;

  /** The time in which each worker should send a batch; otherwise one more helps. */
  static final long WINDOW_NANOS = 20_000_000L;

  /** A batch of which less is left is sent with all workers, whatever that costs others. */
  static final long URGENT_NANOS = 1_000_000_000L;

  private final Handling<B> handling;

  /** One for all batches: there might be no memory for another one when a batch was taken. */
  private final Runnable answered = this::countAnswer;

  @GuardedBy("this")
  private final Queue<B> waiting;

  @GuardedBy("this")
  private int running;

  @GuardedBy("this")
  private long windowNanos;

  @GuardedBy("this")
  private int sentInWindow;

  /** How often the server has answered a worker. */
  @GuardedBy("this")
  private long answers;

  /** What the queue does with its batches; no method throws. */
  interface Handling<B> {
    /** Returns until when a batch has to be sent; the earliest is the most urgent. */
    long deadlineNanos(B batch);

    /** Returns how long a batch waits for its connection and its answer; never changes. */
    long limitNanos(B batch);

    /**
     * Sends a batch, on a worker.
     *
     * @param answered called when the server has answered
     * @return the fault if there was no connection for it, so that nothing was sent
     */
    @Nullable CommandException send(B batch, Runnable answered);

    /** Fails a batch that was not sent. */
    void fail(B batch, CommandException fault);

    /** Fails what an error has left of a batch without an outcome. Needs no memory. */
    void failRest(B batch);
  }

  BatchQueue(Handling<B> handling) {
    this.handling = handling;
    this.waiting = new PriorityQueue<>(this::compareDeadlines);
  }

  private int compareDeadlines(B batch, B other) {
    return Long.signum(handling.deadlineNanos(batch) - handling.deadlineNanos(other));
  }

  synchronized void add(B batch) {
    waiting.add(batch); // grows first: without memory it is not added
  }

  synchronized @Nullable B poll() {
    return waiting.poll();
  }

  /** Returns whether batches wait, and no worker sends them. */
  synchronized boolean isAbandoned() {
    return running == 0 && !waiting.isEmpty();
  }

  /** Returns whether nothing waits, and no worker is at work. */
  synchronized boolean isIdle() {
    return running == 0 && waiting.isEmpty();
  }

  /** Returns the number of workers. Package-private for tests. */
  synchronized int running() {
    return running;
  }

  /** Starts one more worker where it helps; returns whether a worker sends what waits. */
  boolean startWorker(WorkerPool workers, long nowNanos) {
    synchronized (this) {
      B next = waiting.peek();
      if (next == null || !needsWorker(next, nowNanos)) {
        return true;
      }
      running++;
    }
    boolean started = false;
    try {
      started = workers.tryRun(this::sendAll);
    } finally {
      if (!started) {
        end();
      }
    }
    return started || !isAbandoned();
  }

  @GuardedBy("this")
  private boolean needsWorker(B next, long nowNanos) {
    boolean atOnce =
        running < FIRST_WORKERS || handling.deadlineNanos(next) - nowNanos < URGENT_NANOS;
    if (!atOnce && nowNanos - windowNanos < WINDOW_NANOS) {
      return false;
    }
    boolean slow = sentInWindow < running;
    windowNanos = nowNanos;
    sentInWindow = 0;
    return (atOnce || slow) && running < MAX_WORKERS;
  }

  private void sendAll() {
    B next = null;
    boolean ended = false;
    try {
      for (next = takeOrEnd(); next != null; next = takeOrEnd()) {
        long before = answers();
        CommandException unsent = handling.send(next, answered);
        if (unsent != null && unsent.isTimeOut() && answers() == before) {
          failImpatient(next, unsent);
        } else if (unsent != null) {
          ended = putBackAndEnd(next);
          if (ended) {
            return;
          }
          handling.fail(next, unsent);
        }
        countDone();
      }
      ended = true;
    } finally {
      if (!ended) {
        try {
          if (next != null) {
            handling.failRest(next);
          }
        } finally {
          end();
        }
      }
    }
  }

  /** Takes the next batch; without one the worker counts no more. */
  private synchronized @Nullable B takeOrEnd() {
    B next = waiting.poll();
    if (next == null) {
      running--;
    }
    return next;
  }

  private synchronized long answers() {
    return answers;
  }

  private synchronized void countAnswer() {
    answers++;
  }

  private synchronized void countDone() {
    sentInWindow++;
  }

  /** Fails a batch, and those that have no longer limit. */
  private void failImpatient(B first, CommandException fault) {
    handling.fail(first, fault);
    long limitNanos = handling.limitNanos(first);
    List<B> impatient = new ArrayList<>();
    synchronized (this) { // an error removes none
      waiting.removeIf(batch -> handling.limitNanos(batch) <= limitNanos && impatient.add(batch));
    }
    for (int i = 0; i < impatient.size(); i++) { // an iterator would need memory
      handling.fail(impatient.get(i), fault);
    }
  }

  /** Puts the batch back, if another worker will take it, and then the worker counts no more. */
  private synchronized boolean putBackAndEnd(B batch) {
    if (running == 1) {
      return false;
    }
    try {
      waiting.add(batch);
    } catch (OutOfMemoryError notAdded) {
      return false;
    }
    running--;
    return true;
  }

  private synchronized void end() {
    running--;
  }
}
