package io.mortise.core.internal.event;

import io.mortise.core.LeaseLoss;
import org.jspecify.annotations.Nullable;

/**
 * The Flight Recorder events of one acquisition and of its hold. Each is committed by the thread to
 * which it happens, so that it has that thread, its stack, and the moments themselves.
 *
 * <p><b>Threads.</b> The acquiring thread makes it, and calls {@link #notAcquired} or {@link
 * #acquired} before any other thread reports the hold. After that one thread calls {@link #ended},
 * once.
 */
final class AcquisitionRecording {
  private final String lockKind;
  private final String lockName;
  private final String threadName;
  private final LockWait wait = new LockWait();
  private final LockHold hold = new LockHold();

  AcquisitionRecording(String lockKind, String lockName, String threadName) {
    this.lockKind = lockKind;
    this.lockName = lockName;
    this.threadName = threadName;
    wait.begin();
  }

  /** Returns whether one of the two events is enabled in a recording. */
  static boolean isOn() {
    return new LockWait().isEnabled() || new LockHold().isEnabled();
  }

  void notAcquired(@Nullable Throwable thrown) {
    wait.end();
    if (wait.shouldCommit()) {
      wait.outcome =
          thrown == null
              ? "not_acquired"
              : thrown instanceof InterruptedException ? "interrupted" : "error";
      wait.error = thrown == null ? null : thrown.toString();
      commitWait();
    }
  }

  void acquired(long fencingToken, boolean local) {
    wait.end();
    if (wait.shouldCommit()) {
      wait.outcome = "acquired";
      wait.fencingToken = fencingToken;
      wait.local = local;
      commitWait();
    }
    hold.fencingToken = fencingToken;
    hold.local = local;
    hold.begin();
  }

  private void commitWait() {
    wait.lockName = lockName;
    wait.lockKind = lockKind;
    wait.askedBy = threadName;
    wait.commit();
  }

  /** Ends the hold, which was released if there is no loss. */
  void ended(@Nullable LeaseLoss loss) {
    hold.end();
    if (hold.shouldCommit()) {
      hold.lockName = lockName;
      hold.lockKind = lockKind;
      hold.askedBy = threadName;
      hold.outcome = loss == null ? "released" : "lost";
      hold.commit();
    }
  }
}
