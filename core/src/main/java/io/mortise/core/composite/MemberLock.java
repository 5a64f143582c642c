package io.mortise.core.composite;

import io.mortise.connection.concurrent.OomSafeLock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The locks under which threads of several clients deliver the replies and leases of members:
 * {@link OomSafeLock}s, because no delivery may be lost when memory is exhausted.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
public final class MemberLock {
  private MemberLock() {}

  /** Returns a new lock whose {@code lock()} never fails. */
  public static ReentrantLock create() {
    return new OomSafeLock();
  }
}
