package io.mortise.cli.inspect;

import io.mortise.core.LockInspection;
import io.mortise.core.LockInspection.Mode;
import io.mortise.core.LockInspection.Participant.Access;
import io.mortise.core.LockInspection.Participant.Library;

/** The words for the kind of a lock and the state of its holders. */
final class LockText {
  private LockText() {}

  /**
   * Returns the type, as far as it can be seen: a fair lock without a waiter looks like any other,
   * and so does a free lock. A hash with a field that is no id of a holder may be no lock.
   */
  static String type(LockInspection lock) {
    boolean readWrite =
        lock.mode() == Mode.READ
            || lock.mode() == Mode.WRITE
            || lock.waiters().stream().anyMatch(waiter -> waiter.access() != Access.EXCLUSIVE);
    if (lock.holders().stream().anyMatch(holder -> holder.library() == Library.UNKNOWN)) {
      return "perhaps no lock";
    }
    return (lock.queueLength() > 0 ? "fair " : "") + (readWrite ? "read-write lock" : "lock");
  }

  /** Returns type, state, the number of waiters and the last token. */
  static String state(LockInspection lock) {
    StringBuilder text = new StringBuilder(type(lock)).append(", ").append(mode(lock));
    long waiting = Math.max(lock.queueLength(), lock.waiters().size());
    if (waiting > 0) {
      text.append(", ").append(waiting).append(waiting == 1 ? " waits" : " wait");
    }
    lock.lastToken().ifPresent(token -> text.append(", token ").append(token));
    return text.toString();
  }

  private static String mode(LockInspection lock) {
    return switch (lock.mode()) {
      case FREE -> "free";
      case EXCLUSIVE -> "held";
      case READ -> "held for reading";
      case WRITE -> "held for writing";
      case COMPOSITE, UNKNOWN -> "not known";
    };
  }
}
