package io.mortise.connection.concurrent;

import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock whose {@link #lock()} never fails when memory is exhausted. In JDK 17 a contended {@link
 * ReentrantLock} allocates a place in its queue, and throws an {@link OutOfMemoryError} when there
 * is no room. This one then tries again and again, as those of later JDKs do (<a
 * href="https://bugs.openjdk.org/browse/JDK-8066859">JDK-8066859</a>). It is for steps that other
 * threads rely on, and that a monitor is not for: a monitor takes no notice of an interrupt, and a
 * virtual thread that writes to a socket in it keeps its carrier.
 *
 * <p>It is not for conditions: without memory a signal of that JDK takes a waiter from the queue of
 * the condition and puts it nowhere. {@link Signal} does not use them.
 *
 * <p><b>Threads.</b> Any thread may call every method.
 */
public final class OomSafeLock extends ReentrantLock {
  private static final long serialVersionUID = 1L;
  private static final long RETRY_NANOS = 50_000;

  @Override
  public void lock() {
    try {
      super.lock();
    } catch (OutOfMemoryError noPlace) {
      while (!tryLock()) {
        LockSupport.parkNanos(this, RETRY_NANOS);
      }
    }
  }
}
