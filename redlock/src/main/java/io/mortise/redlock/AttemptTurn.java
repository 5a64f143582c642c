package io.mortise.redlock;

import io.mortise.core.spi.CallerWait;
import java.util.LinkedList;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The turn of one acquisition among those of this process that want the same quorum lock: they ask
 * the nodes one after the other, in the order in which they come. If all asked at the same time,
 * each would get some nodes and none a majority.
 *
 * <p>A turn ends with the acquisition, whether it has the lock then or not; so the next one asks
 * while the lock is held, and waits at a node. A turn saves work, and decides nothing: an
 * acquisition asks without it when the one that has it had no answer of the nodes for some time, so
 * that no other one, whose nodes may be silent or whose thread may be stopped, keeps it from its
 * own answer. It keeps its place, and waits again before it asks the next time: after a pause of
 * the process, which looks like silent nodes to all of them, they ask once.
 *
 * <p><b>Threads.</b> An object is confined to the thread of its acquisition, except that the one
 * before it gives it the turn, by the semaphore. The monitor of the queue guards who has the turn
 * and who waits for it. The map orders those that begin and end the use of a queue.
 */
final class AttemptTurn implements AutoCloseable {
  private static final Map<Object, Queue> QUEUES = new ConcurrentHashMap<>();

  /** The acquisitions of one lock. */
  private static final class Queue {
    /** In their order: to leave needs no memory, and an error in an addition changes nothing. */
    @SuppressWarnings("JdkObsolete") // an ArrayDeque is broken when it cannot grow
    final LinkedList<AttemptTurn> waiters = new LinkedList<>();

    @Nullable AttemptTurn current;

    /** How many use the queue; the map guards it. */
    int users;

    /** When the turn was given last, or the one that has it had an answer. */
    volatile long answeredNanos;

    /** Adds a waiter at the end, unless it waits already. */
    void add(AttemptTurn turn) {
      if (!turn.waiting) {
        turn.waiting = waiters.add(turn);
      }
    }

    void remove(AttemptTurn turn) {
      if (turn.waiting) {
        turn.waiting = false;
        waiters.remove(turn);
      }
    }
  }

  private final Object lock;
  private final LongSupplier clock;
  private final Queue queue;
  private final Semaphore given = new Semaphore(0);

  /** How long those behind wait for an answer; only the own thread uses it. */
  private long answerTimeoutNanos;

  /** Whether it has a place among the waiters. */
  private boolean waiting;

  /** Joins the acquisitions of the lock of that identity. */
  AttemptTurn(Object lock, LongSupplier clock) {
    this.lock = lock;
    this.clock = clock;
    this.queue =
        QUEUES.compute(
            lock,
            (same, present) -> {
              Queue joined = present == null ? new Queue() : present;
              joined.users++;
              return joined;
            });
  }

  /**
   * Waits for the turn; again, if an earlier wait has ended without it.
   *
   * @param answerTimeoutNanos for how long at most after the last answer of the one that has the
   *     turn
   * @throws InterruptedException if the terms say that an interrupt ends the wait
   */
  void await(CallerWait wait, long nanos, long answerTimeoutNanos) throws InterruptedException {
    wait.checkInterrupt();
    this.answerTimeoutNanos = answerTimeoutNanos;
    long beganNanos = clock.getAsLong();
    enqueue();
    while (!isMine()) {
      long nowNanos = clock.getAsLong();
      long left =
          Math.min(
              nanos - (nowNanos - beganNanos),
              answerTimeoutNanos - (nowNanos - queue.answeredNanos));
      if (left <= 0) {
        return;
      }
      wait.await(left, rest -> given.tryAcquire(rest, TimeUnit.NANOSECONDS));
    }
  }

  private void enqueue() {
    synchronized (queue) {
      if (queue.current == null) {
        queue.answeredNanos = clock.getAsLong();
        give(this);
      } else if (queue.current != this) {
        queue.add(this);
      }
    }
  }

  /** Gives the turn; called with the monitor of the queue. */
  private void give(@Nullable AttemptTurn next) {
    queue.current = next;
    if (next != null) {
      queue.remove(next);
      next.given.release();
    }
  }

  /**
   * Gives the turn to the next one, for whose answer the others then wait again; but not when they
   * have waited in vain. Then the nodes are silent, and with a wait for each turn, each of many
   * acquisitions would report that later than the one before it. Called with the monitor.
   */
  private void passOn() {
    long nowNanos = clock.getAsLong();
    if (nowNanos - queue.answeredNanos < answerTimeoutNanos) {
      queue.answeredNanos = nowNanos;
    }
    give(queue.waiters.peek());
  }

  /** Returns whether this acquisition asks alone. */
  boolean isMine() {
    synchronized (queue) {
      return queue.current == this;
    }
  }

  /** The nodes have answered this acquisition: those behind it wait on, if it has the turn. */
  void answered() {
    if (isMine()) {
      queue.answeredNanos = clock.getAsLong();
    }
  }

  /** Returns how many locks have acquisitions. */
  static int locks() {
    return QUEUES.size();
  }

  @Override
  public void close() {
    try {
      synchronized (queue) {
        queue.remove(this);
        if (queue.current == this) {
          passOn();
        }
      }
    } finally {
      QUEUES.computeIfPresent(lock, (same, left) -> --left.users == 0 ? null : left);
    }
  }
}
