package io.mortise.spring.boot.locked;

import io.mortise.core.DistributedLock;

/**
 * Decorates the locks of {@code @Locked} methods.
 *
 * <p><b>Threads.</b> Any thread may call it.
 */
@FunctionalInterface
public interface LockDecorator {

  /** Returns the same lock, with something done at its calls. Called for each call of a method. */
  DistributedLock decorate(DistributedLock lock);
}
