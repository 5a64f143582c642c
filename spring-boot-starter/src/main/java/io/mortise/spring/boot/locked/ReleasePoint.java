package io.mortise.spring.boot.locked;

import io.mortise.core.DistributedLock;

/**
 * Decides when the lock of a method is released: after the method, or later.
 *
 * <p><b>Threads.</b> Called by the thread that owns the lock.
 */
@FunctionalInterface
interface ReleasePoint {
  /** After the method: there are no transactions. */
  ReleasePoint AFTER_METHOD = (lock, released) -> false;

  /**
   * Takes over the release of a lock that the current thread has acquired.
   *
   * @param released called when the release has ended, with or without success
   * @return false if the method has to release it
   */
  boolean takeOver(DistributedLock lock, Runnable released);

  /** Returns whether work of the current thread ends later than the method that it calls. */
  default boolean isInTransaction() {
    return false;
  }
}
