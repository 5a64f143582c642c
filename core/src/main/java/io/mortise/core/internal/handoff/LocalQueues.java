package io.mortise.core.internal.handoff;

import io.mortise.core.internal.lease.LockId;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * The local queues in use, by lock. A queue exists while an acquisition waits in it or a hold has
 * its permit.
 *
 * <p><b>Threads.</b> Any thread may call any method. {@code compute} of the map guards the number
 * of users, so a queue is removed only when no acquisition can have it.
 */
public final class LocalQueues implements AutoCloseable {
  /** More than any number of threads, so that a closing client leaves no thread waiting. */
  private static final int PERMITS_AT_CLOSE = 1 << 20;

  private final ConcurrentHashMap<LockId, LocalQueue> queues = new ConcurrentHashMap<>();
  private final LongSupplier clock;

  public LocalQueues(LongSupplier clock) {
    this.clock = clock;
  }

  /** Returns the queue of a lock; its caller gives it back by {@link #leave}. */
  LocalQueue join(LockId lockId) {
    return queues.compute(
        lockId,
        (key, present) -> {
          LocalQueue queue = present == null ? new LocalQueue(clock) : present;
          queue.users++;
          return queue;
        });
  }

  /**
   * Gives the queue back; a permit was released before. May be called again after an error: when
   * one comes after the count, the queue has been removed.
   */
  void leave(LockId lockId, LocalQueue queue) {
    queues.computeIfPresent(
        lockId, (key, present) -> present == queue && --present.users == 0 ? null : present);
  }

  public int size() {
    return queues.size();
  }

  /** Returns about how many acquisitions wait in all queues. */
  public int waiters() {
    return queues.values().stream().mapToInt(LocalQueue::waiters).sum();
  }

  @Override
  public void close() {
    queues.values().forEach(queue -> queue.releaseAll(PERMITS_AT_CLOSE));
  }
}
