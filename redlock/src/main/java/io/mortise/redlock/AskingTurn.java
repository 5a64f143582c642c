package io.mortise.redlock;

import io.mortise.core.spi.CallerWait;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The turn of one acquisition among those of this process that want the same quorum lock: they ask
 * the nodes one after the other, in the order in which they come. If all asked at the same time,
 * each would get some nodes and none a majority.
 *
 * <p>A turn ends with the acquisition, whether it has the lock then or not; so the next one asks
 * while the lock is held, and waits at a node. A turn saves work, and decides nothing: an
 * acquisition that has waited long enough for it asks without it, so that no other one, whose nodes
 * may be silent, keeps it from its own answer.
 *
 * <p><b>Threads.</b> Confined to the thread of its acquisition. The map orders those that begin and
 * end the use of a queue, and the semaphore those that wait in it.
 */
final class AskingTurn implements AutoCloseable {
  private static final Map<Object, Queue> QUEUES = new ConcurrentHashMap<>();

  /** The acquisitions of one lock. */
  private static final class Queue {
    final Semaphore turn = new Semaphore(1, true);

    /** How many use the queue; the map guards it. */
    int users;
  }

  private final Object lock;
  private final Queue queue;
  private boolean mine;

  /**
   * Joins the acquisitions of a lock.
   *
   * @param lock its identity
   */
  AskingTurn(Object lock) {
    this.lock = lock;
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
   * Waits for the turn, but for no longer than that time.
   *
   * @throws InterruptedException if the terms say that an interrupt ends the wait
   */
  void await(CallerWait wait, long nanos) throws InterruptedException {
    wait.await(nanos, left -> mine = queue.turn.tryAcquire(left, TimeUnit.NANOSECONDS));
  }

  /** Returns whether this acquisition asks alone. */
  boolean isMine() {
    return mine;
  }

  /** Returns how many locks have acquisitions. */
  static int locks() {
    return QUEUES.size();
  }

  @Override
  public void close() {
    try {
      if (mine) {
        queue.turn.release();
      }
    } finally {
      mine = false;
      QUEUES.computeIfPresent(lock, (same, left) -> --left.users == 0 ? null : left);
    }
  }
}
