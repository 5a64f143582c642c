package io.mortise.connection.pipeline;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * The commands of many threads on their way to one server: who goes, and who goes along.
 *
 * <p>At most {@value CombinerLimits#AT_A_TIME} trips are on the way at a time, each on a connection
 * of its own. With a command for each, most of the time of client and server would go into system
 * calls and thread switches; so a thread that may not go waits, and the next one that goes takes
 * along the commands of all who wait: one write and one read, on both sides. (Known as flat
 * combining. No thread is there for it.)
 *
 * <p>A thread stands in line for at most {@value CombinerLimits#PATIENCE_MICROS} µs: then it goes
 * all the same, and takes the others along. So as many trips are on the way to a server that is far
 * away as it needs, and a connection on which nothing comes back, or a thread that is kept from
 * going on, holds nobody up. What happens on the way is a {@link PipelineBatch}'s.
 *
 * <pre>
 *   may go:      take all who wait along, go, give each its answer
 *   may not go:  stand in line, parked, until answered; or until a trip has ended, or the patience
 *                has, then look again
 * </pre>
 *
 * <p>What orders it: a thread stands in line <em>before</em> it looks whether it may go, and a trip
 * is counted as over <em>before</em> who made it looks for one that waits. So one of the two sees
 * the other, and nobody is left waiting while nobody is on a trip. Whoever leaves the line passes
 * on the call that may have been meant for it. Who takes a passenger along is settled by one
 * compare-and-set of that; from there on only the one on the trip touches the command, until it has
 * written the outcome.
 *
 * <p>Points at which it can break:
 *
 * <ul>
 *   <li>An interrupt ends no wait here; the status stands again afterwards.
 *   <li>A passenger's time ends: before it was taken, the command was never sent; afterwards it may
 *       have run, and the answer finds nobody.
 *   <li>The time of the one on the trip ends: the connection is lost to all aboard, and what they
 *       have asked may have run. So it takes nobody along who would lose much of its time by that.
 *   <li>Writing has no time limit. So no more is sent than a socket takes at once.
 *   <li>There is no connection: that is a fault of the one who wanted to go; the next one tries.
 *   <li>The trip ends by an error: whoever has no answer asks again.
 * </ul>
 */
public final class CommandCombiner {
  /** So much goes together at the most; a single command may be longer. */
  private static final int ROOM_BYTES = 16 * 1024;

  /** The part of the time that one on a trip has left which others may lose by it. */
  private static final int PART = 4;

  private final String where;
  private final CombinerLimits limits;
  private final CommandCombiner.BatchTransport way;
  private final ConcurrentLinkedQueue<PendingCommand> waiting = new ConcurrentLinkedQueue<>();

  /** Those that are not over. */
  private final AtomicInteger trips = new AtomicInteger();

  /** One trip. */
  @FunctionalInterface
  interface BatchTransport {
    /**
     * Goes, and gives each an answer or a fault.
     *
     * @param first whose thread makes the trip
     * @param others takes along who waits: to be called as late as it can be, and then all of them
     *     have to be answered
     * @throws CommandException if it cannot go; those who were not taken along then try it for
     *     themselves
     */
    void send(PendingCommand first, Supplier<List<PendingCommand>> others) throws CommandException;
  }

  /**
   * @param where the server, for messages
   */
  CommandCombiner(String where, CombinerLimits limits, CommandCombiner.BatchTransport way) {
    this.where = where;
    this.limits = limits;
    this.way = way;
  }

  /** Has the command run, on a trip of this thread's or of another's. */
  Reply submit(PendingCommand me) throws CommandException {
    boolean queued = false;
    try {
      while (!me.isAnswered()) {
        if (me.isWaiting() && tryStartBatch(me)) {
          try {
            if (me.claim()) {
              if (queued) {
                waiting.remove(me);
              }
              way.send(me, () -> drainWaiting(me));
            }
          } finally {
            endBatch();
          }
        } else if (!queued) {
          waiting.add(me);
          queued = true;
        } else {
          await(me);
        }
      }
      return me.reply();
    } finally {
      try {
        leave(me);
      } finally {
        me.restoreInterrupt();
      }
    }
  }

  /** Until there is something to look at. */
  private void await(PendingCommand me) throws CommandException {
    while (!me.consumeSignal()) {
      long now = System.nanoTime();
      long left = me.deadlineNanos() - now;
      if (left <= 0) {
        timeOut(me);
      }
      long patience = me.sinceNanos() + limits.patienceNanos() - now;
      if (me.isWaiting() && patience <= 0) {
        return;
      }
      me.await(me.isWaiting() ? Math.min(left, patience) : left);
    }
  }

  private void timeOut(PendingCommand me) throws CommandException {
    if (leave(me)) {
      throw late(false, where + " did not answer those before in time");
    } else if (!me.isAnswered()) {
      throw late(true, where + " did not answer in time");
    }
  }

  /** Whether it was in line, or about to be. */
  private boolean leave(PendingCommand me) {
    boolean left = me.withdraw();
    if (left) {
      waiting.remove(me);
      signalNext();
    }
    return left;
  }

  /** As of a connection that broke: each asks again. */
  private static CommandException notSent() {
    return new CommandException(
        Kind.UNREACHABLE, true, "the one that was to send it has failed", null);
  }

  private static CommandException late(boolean sent, String message) {
    return new CommandException(Kind.UNREACHABLE, sent, message, new TimeoutException());
  }

  // ---- who goes

  private boolean tryStartBatch(PendingCommand me) throws CommandException {
    long now = System.nanoTime();
    boolean impatient = now - me.sinceNanos() >= limits.patienceNanos();
    if (impatient && me.deadlineNanos() - now <= 0) {
      timeOut(me);
      return false;
    }
    while (true) {
      int others = trips.get();
      if (!impatient && !mayGo(others)) {
        return false;
      }
      if (trips.compareAndSet(others, others + 1)) {
        return true;
      }
    }
  }

  private boolean mayGo(int others) {
    return others < limits.atATime();
  }

  private void endBatch() {
    trips.decrementAndGet();
    signalNext();
  }

  private void signalNext() {
    if (mayGo(trips.get())) {
      for (PendingCommand next : waiting) {
        if (next.isWaiting()) {
          next.signal();
          return;
        }
      }
    }
  }

  /** Takes along who waits, but nobody who has much more time. */
  private List<PendingCommand> drainWaiting(PendingCommand me) {
    List<PendingCommand> aboard = new ArrayList<>();
    long now = System.nanoTime();
    long latest = me.deadlineNanos() + Math.max(0, me.deadlineNanos() - now) / PART;
    int room = ROOM_BYTES - me.bytes();
    var each = waiting.iterator();
    try {
      while (room > 0 && each.hasNext()) {
        PendingCommand next = each.next();
        if (!next.isWaiting()) {
          each.remove(); // taken already, or about to leave
        } else if (next.bytes() <= room && next.deadlineNanos() - latest <= 0 && next.claim()) {
          aboard.add(next);
          each.remove();
          room -= next.bytes();
        }
      }
      return aboard;
    } catch (Throwable e) { // nobody else knows of them
      aboard.forEach(taken -> taken.fail(notSent()));
      throw e;
    }
  }
}
