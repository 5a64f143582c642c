package io.mortise.spring.boot;

/** The action of a {@link Locked} method when others held the lock for the whole wait. */
public enum WhenBusy {
  /** Throws {@link LockNotAcquiredException}; a method with a stage returns a failed one. */
  THROW,
  /**
   * Does not run the method. The caller gets an empty {@code Optional}, a stage that is completed
   * with null, or null. A method that returns a primitive type is refused.
   */
  SKIP
}
