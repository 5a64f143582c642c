package io.mortise.connection.pipeline;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ErrorClassifier;
import io.mortise.connection.pool.Reply;
import io.mortise.connection.pool.SocketBuffers;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Combines the commands of many threads to one server into batches, by <a
 * href="https://people.csail.mit.edu/shanir/publications/Flat%20Combining%20SPAA%2010.pdf">flat
 * combining</a>.
 *
 * <p>At most {@value CombinerLimits#DEFAULT_MAX_BATCHES} batches are under way at a time, each on a
 * connection of its own. With a write and a read for each command, most of the time of client and
 * server would go into system calls and thread switches. So a thread that may not start a batch
 * queues its command and waits, and the next thread that starts a batch sends the commands of all
 * waiting threads too: one write and one read, on both sides. No thread is dedicated to that.
 *
 * <p>A command is queued for at most {@value CombinerLimits#MAX_QUEUE_MICROS} µs: then its thread
 * starts a batch all the same, with the commands of the other waiting threads. So a distant server
 * has as many batches under way as it needs, and neither a silent connection nor a thread that does
 * not run delays the commands of the others. A {@link PipelineTransport} writes and reads.
 *
 * <p>But a thread beyond the first {@value CombinerLimits#DEFAULT_MAX_BATCHES} starts none while
 * there are as many batches as connections. Example: ten thousand threads ask at the same time, and
 * all of them have queued for too long. If each started a batch it would claim its own command, and
 * wait for one of 64 connections: every batch would have one command, just when there are most to
 * combine. So 64 of them start batches, and these take the commands of the others.
 *
 * <pre>
 *   may start a batch:      claim all waiting commands, send them, give each its answer
 *   may not start a batch:  queue the command; park until it is answered, or until a batch has
 *                           ended, or the queue time has; then look again
 * </pre>
 *
 * <p>Points at which it can break:
 *
 * <ul>
 *   <li>An interrupt ends no wait here; the interrupt status is restored afterwards.
 *   <li>The time of a queued command ends: before the command was claimed, it was never sent;
 *       afterwards it may have run, and its answer is ignored.
 *   <li>The time of the thread that sends the batch ends: the connection is lost to all commands of
 *       the batch, and they may have run. So the batch claims no command that would lose much of
 *       its time by that.
 *   <li>Writing has no time limit. So a batch is not larger than what the {@link SocketBuffers}
 *       take at once; a command that is longer goes alone.
 *   <li>There is no connection: only the command of the thread that starts the batch fails; the
 *       next thread tries.
 *   <li>The batch ends by an error: each thread without an answer asks again.
 * </ul>
 *
 * <p><b>Threads.</b> Any thread may call {@code submit}. The order is Dekker-style "publish, then
 * look": a thread queues its command <em>before</em> it looks whether it may start a batch, and a
 * batch is counted as over <em>before</em> its thread looks for a waiting command. So one of the
 * two sees the other, and no command is left waiting while no batch is under way. A late thread
 * likewise marks its command <em>before</em> it counts the batches, and a batch that ends signals
 * the first waiting thread, if that is late. So while a late command waits and there is a free
 * connection, a thread is about to start a batch: a thread that withdraws its command, or whose
 * late command another batch has claimed, passes on the signal that may have been meant for it. A
 * signalled thread that does not run keeps its own signal only: the next batch that ends signals
 * the late thread behind it. And a thread that does not run marks nothing, so the clock says
 * whether it is late too. One compare-and-set of a command decides which batch claims it; from
 * there on only the thread of the batch touches the command, until it has written the outcome.
 */
public final class CommandCombiner {
  /** A claimed command may lose this part (one fourth) of the time that its batch has left. */
  private static final int LOSABLE_PART = 4;

  private final String where;
  private final CombinerLimits limits;
  private final CommandCombiner.BatchTransport transport;
  private final ConcurrentLinkedQueue<PendingCommand> waiting = new ConcurrentLinkedQueue<>();

  /** The number of batches under way. */
  private final AtomicInteger batches = new AtomicInteger();

  /** Sends batches. */
  @FunctionalInterface
  interface BatchTransport {
    /**
     * Sends one batch, and gives each of its commands an answer or a failure.
     *
     * @param first the command of the calling thread
     * @param others claims the waiting commands, and adds them to the list: called as late as
     *     possible; then all of them have to be answered, even if it has thrown
     * @throws CommandException if the batch cannot be sent; the threads whose commands were not
     *     claimed then try for themselves
     */
    void send(PendingCommand first, Consumer<List<PendingCommand>> others) throws CommandException;

    /** Returns the number of connections; a batch beyond that would wait for one. */
    default int maxConnections() {
      return Integer.MAX_VALUE;
    }
  }

  /**
   * @param where the server, for messages
   */
  CommandCombiner(String where, CombinerLimits limits, CommandCombiner.BatchTransport transport) {
    this.where = where;
    this.limits = limits;
    this.transport = transport;
  }

  /** Runs the command, in a batch of this thread or of another one. */
  Reply submit(PendingCommand command) throws CommandException {
    command.queueUntil(Deadline.after(limits.maxQueueNanos(), command.deadline().ticker()));
    boolean queued = false;
    boolean sent = false;
    try {
      while (!command.isAnswered()) {
        if (command.queueEnd().hasPassed()) {
          command.markLate();
        }
        if (command.isWaiting() && tryStartBatch(command)) {
          try {
            if (command.claim()) {
              sent = true;
              if (queued) {
                waiting.remove(command);
              }
              transport.send(command, batch -> drainWaiting(command, batch));
            }
          } finally {
            endBatch();
          }
        } else if (!queued) {
          waiting.add(command);
          queued = true;
        } else {
          await(command);
        }
      }
      return command.reply();
    } finally {
      try {
        // The end of its own batch has signalled the next one.
        if (!withdraw(command) && !sent && command.wasSignalled() && command.isLate()) {
          signalNext();
        }
      } finally {
        command.restoreInterrupt();
      }
    }
  }

  /**
   * Waits until the command is signalled or answered, or its queue time is over. A late thread has
   * found all connections in use: it waits for the end of a batch.
   */
  private void await(PendingCommand command) throws CommandException {
    while (!command.consumeSignal()) {
      long leftNanos = command.deadline().leftNanos();
      if (leftNanos <= 0) {
        timeOut(command);
      }
      boolean looksAgain = command.isWaiting() && !command.isMarkedLate();
      long queueNanosLeft = command.queueEnd().leftNanos();
      if (looksAgain && queueNanosLeft <= 0) {
        return;
      }
      command.await(looksAgain ? Math.min(leftNanos, queueNanosLeft) : leftNanos);
    }
  }

  private void timeOut(PendingCommand command) throws CommandException {
    boolean free = batches.get() < transport.maxConnections();
    if (withdraw(command)) {
      throw free
          ? timedOut(false, where + " did not answer the commands before in time")
          : noConnection();
    } else if (!command.isAnswered()) {
      throw timedOut(true, where + " did not answer in time");
    }
  }

  /** Withdraws the command; returns whether it was queued, or about to be. */
  private boolean withdraw(PendingCommand command) {
    boolean withdrawn = command.withdraw();
    if (withdrawn) {
      waiting.remove(command);
      signalNext();
    }
    return withdrawn;
  }

  private CommandException noConnection() {
    return ErrorClassifier.of(
        new NoSuchElementException("the batches use them", new TimeoutException()), where, false);
  }

  private static CommandException timedOut(boolean sent, String message) {
    return new CommandException(Kind.UNREACHABLE, sent, message, new TimeoutException());
  }

  // ---- the batches under way

  private boolean tryStartBatch(PendingCommand command) throws CommandException {
    if (command.isMarkedLate() && command.deadline().hasPassed()) {
      timeOut(command);
      return false;
    }
    while (true) {
      int others = batches.get();
      if (!mayStartBatch(command, others)) {
        return false;
      }
      if (batches.compareAndSet(others, others + 1)) {
        return true;
      }
    }
  }

  private boolean mayStartBatch(PendingCommand command, int others) {
    return others < limits.maxBatches()
        || (command.isLate() && others < transport.maxConnections());
  }

  private void endBatch() {
    batches.decrementAndGet();
    signalNext();
  }

  /**
   * Signals a waiting thread that may start a batch; without memory to look for it the first one,
   * which looks for itself. So no signal is lost, and no batch that has its answers ends by an
   * error here.
   */
  private void signalNext() {
    try {
      findAndSignalNext();
    } catch (OutOfMemoryError noIterator) {
      PendingCommand first = waiting.peek();
      if (first != null) { // when it is claimed, its batch signals again as it ends
        first.signal();
      }
    }
  }

  /**
   * Signals the first waiting thread, if it may start a batch. One that has not seen its last
   * signal may not run: then also the first late thread behind it. One that is not late needs no
   * signal there, because it looks by itself when its queue time ends.
   */
  private void findAndSignalNext() {
    int others = batches.get();
    boolean behind = false;
    for (PendingCommand next : waiting) {
      if (next.isWaiting()) {
        if (!mayStartBatch(next, others) || (behind && !next.isLate())) {
          return;
        }
        if (!next.signal()) {
          behind = true;
        } else if (next.isWaiting()) {
          return; // otherwise its thread may have left before the signal came
        }
      }
    }
  }

  /**
   * Claims the waiting commands, except those that have much more time. Each of them is in the
   * batch before it is claimed: no other thread knows of a claimed command, and there may be no
   * memory to add it.
   */
  private void drainWaiting(PendingCommand first, List<PendingCommand> batch) {
    Deadline own = first.deadline();
    long latestNanos = own.atNanos() + Math.max(0, own.leftNanos()) / LOSABLE_PART;
    int roomBytes = SocketBuffers.MIN_BYTES - first.bytes();
    var queue = waiting.iterator();
    while (roomBytes > 0 && queue.hasNext()) {
      PendingCommand next = queue.next();
      if (!next.isWaiting()) {
        queue.remove(); // claimed already, or withdrawn
      } else if (next.bytes() <= roomBytes && next.deadline().atNanos() - latestNanos <= 0) {
        batch.add(next);
        if (next.claim()) {
          queue.remove();
          roomBytes -= next.bytes();
        } else {
          batch.remove(batch.size() - 1);
        }
      }
    }
  }
}
