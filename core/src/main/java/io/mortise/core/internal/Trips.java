package io.mortise.core.internal;

import io.mortise.core.LockException.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * The commands of many threads on their way to one server: who goes, and who goes along.
 *
 * <p>Up to {@value #ALONE} commands at a time go each on a connection of its own: that is the
 * quickest for all of them. When there are more, most of the time of client and server goes into
 * system calls and thread switches, one for each command. Then there are only {@value #TOGETHER}
 * trips at a time, and whoever makes one takes along the commands of all who wait: one write and
 * one read, on both sides. (Known as flat combining. No thread is there for it.) Nobody stands in
 * line for more than {@value #PATIENCE_MILLIS} ms: then it goes all the same. So a connection on
 * which nothing comes back, a long way, or a thread that is kept from going on holds nobody up, and
 * who waits for a long way has more trips on it. What happens on the way is a {@link Trip}'s.
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
final class Trips {
  /** So many commands at a time go alone. */
  static final int ALONE = 8;

  /** So many trips at a time when there are more. One is under way while the next gathers. */
  static final int TOGETHER = 3;

  /** After which a thread goes, whoever else is on the way. */
  static final int PATIENCE_MILLIS = 20;

  /** So much goes together at the most; a single command may be longer. */
  private static final int ROOM_BYTES = 16 * 1024;

  /** The part of the time that one on a trip has left which others may lose by it. */
  private static final int PART = 4;

  private final String where;
  private final int alone;
  private final int together;
  private final long patienceNanos;
  private final Way way;
  private final ConcurrentLinkedQueue<Passenger> waiting = new ConcurrentLinkedQueue<>();

  /** Commands that have no answer yet. */
  private final AtomicInteger commands = new AtomicInteger();

  /** Those that are not over. */
  private final AtomicInteger trips = new AtomicInteger();

  /** One trip. */
  @FunctionalInterface
  interface Way {
    /**
     * Goes, and gives each an answer or a fault.
     *
     * @param first whose thread makes the trip
     * @param others takes along who waits: to be called as late as it can be, and then all of them
     *     have to be answered
     * @throws Fault if it cannot go; those who were not taken along then try it for themselves
     */
    void go(Passenger first, Supplier<List<Passenger>> others) throws Fault;
  }

  /**
   * @param where the server, for messages
   * @param patienceNanos how long a thread stands in line at the most
   */
  Trips(String where, int alone, int together, long patienceNanos, Way way) {
    this.where = where;
    this.alone = alone;
    this.together = together;
    this.patienceNanos = patienceNanos;
    this.way = way;
  }

  /** Has the command run, on a trip of this thread's or of another's. */
  Reply ride(Passenger me) throws Fault {
    commands.incrementAndGet();
    boolean queued = false;
    try {
      while (!me.isAnswered()) {
        if (me.waits() && depart(me)) {
          try {
            if (me.board()) {
              if (queued) {
                waiting.remove(me);
              }
              way.go(me, () -> gather(me));
            }
          } finally {
            arrive();
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
      commands.decrementAndGet();
      leave(me);
      me.restoreInterrupt();
    }
  }

  /** Until there is something to look at. */
  private void await(Passenger me) throws Fault {
    while (!me.isToLook()) {
      long now = System.nanoTime();
      long left = me.deadlineNanos() - now;
      if (left <= 0) {
        giveUp(me);
      }
      long patience = me.sinceNanos() + patienceNanos - now;
      if (me.waits() && patience <= 0) {
        return;
      }
      me.await(me.waits() ? Math.min(left, patience) : left);
    }
  }

  private void giveUp(Passenger me) throws Fault {
    if (leave(me)) {
      throw late(false, where + " did not answer those before in time");
    } else if (!me.isAnswered()) {
      throw late(true, where + " did not answer in time");
    }
  }

  /** Whether it was in line, or about to be. */
  private boolean leave(Passenger me) {
    boolean left = me.leave();
    if (left) {
      waiting.remove(me);
      callNext();
    }
    return left;
  }

  private static Fault late(boolean sent, String message) {
    return new Fault(Reason.UNREACHABLE, sent, message, new TimeoutException());
  }

  // ---- who goes

  private boolean depart(Passenger me) throws Fault {
    long now = System.nanoTime();
    boolean impatient = now - me.sinceNanos() >= patienceNanos;
    if (impatient && me.deadlineNanos() - now <= 0) {
      giveUp(me);
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
    return others < together || (others < alone && commands.get() <= alone);
  }

  private void arrive() {
    trips.decrementAndGet();
    callNext();
  }

  private void callNext() {
    if (mayGo(trips.get())) {
      for (Passenger next : waiting) {
        if (next.waits()) {
          next.call();
          return;
        }
      }
    }
  }

  /** Takes along who waits, but nobody who has much more time. */
  private List<Passenger> gather(Passenger me) {
    List<Passenger> aboard = new ArrayList<>();
    long now = System.nanoTime();
    long latest = me.deadlineNanos() + Math.max(0, me.deadlineNanos() - now) / PART;
    int room = ROOM_BYTES - me.bytes();
    var each = waiting.iterator();
    while (room > 0 && each.hasNext()) {
      Passenger next = each.next();
      if (!next.waits()) {
        each.remove(); // taken already, or about to leave
      } else if (next.bytes() <= room && next.deadlineNanos() - latest <= 0 && next.board()) {
        each.remove();
        aboard.add(next);
        room -= next.bytes();
      }
    }
    return aboard;
  }
}
