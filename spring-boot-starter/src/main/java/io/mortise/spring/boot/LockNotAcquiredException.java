package io.mortise.spring.boot;

/**
 * Thrown in place of running a {@link Locked} method whose lock was not acquired: others held it
 * for the whole wait, or the wait was interrupted. Then the interrupt status of the thread is set.
 */
public final class LockNotAcquiredException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String lockName;

  /** Creates the exception. */
  public LockNotAcquiredException(String lockName, String message) {
    super(message);
    this.lockName = lockName;
  }

  /** Returns the name of the lock, with the client's namespace. */
  public String lockName() {
    return lockName;
  }
}
