package io.mortise.core.internal.inspect;

import io.mortise.core.LockInspection;
import io.mortise.core.LockInspection.Participant;
import io.mortise.core.LockOptions;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;

/**
 * The report of an inspection, for people.
 *
 * <p><b>Threads.</b> Confined to one thread.
 */
final class InspectionText {
  private final StringBuilder text = new StringBuilder();

  /** Appends a lock, each line behind that indentation. */
  InspectionText lock(LockInspection lock, String indent) {
    text.append(indent).append("lock '").append(lock.name()).append("' ").append(state(lock));
    lock.lastToken().ifPresent(token -> text.append(", last fencing token ").append(token));
    appendAll(lock.holders(), "\n" + indent + "  held by ");
    appendAll(lock.waiters(), "\n" + indent + "  waits: ");
    long more = lock.queueLength() - lock.waiters().size();
    if (more > 0) {
      text.append('\n').append(indent).append("  and %d more in the queue".formatted(more));
    }
    if (!lock.isComplete() && lock.failure().isEmpty() && lock.members().isEmpty()) {
      text.append('\n')
          .append(indent)
          .append("  not all of it was read: the user may not read all of its keys,")
          .append(" or its hash has more than 1000 fields");
    }
    for (LockInspection member : lock.members()) {
      text.append('\n');
      lock(member, indent + "  ");
    }
    return this;
  }

  private static String state(LockInspection lock) {
    return switch (lock.mode()) {
      case FREE -> "is free";
      case EXCLUSIVE -> "is held";
      case READ -> "is held for reading";
      case WRITE -> "is held for writing";
      case COMPOSITE -> "has " + lock.members().size() + " members";
      case UNKNOWN ->
          "could not be asked: " + lock.failure().map(Throwable::getMessage).orElse("?");
    };
  }

  private void appendAll(List<Participant> participants, String before) {
    for (Participant each : participants) {
      text.append(before);
      participant(each);
    }
  }

  InspectionText participant(Participant each) {
    text.append(each.id());
    if (each.access() != Participant.Access.EXCLUSIVE) {
      text.append(", ").append(each.access().toString().toLowerCase(Locale.ROOT));
    }
    if (each.library() == Participant.Library.REDISSON) {
      text.append(", of Redisson");
    }
    if (each.isThisClient()) {
      text.append(", this client");
    }
    each.host().ifPresent(host -> text.append(", host ").append(host));
    each.processId().ifPresent(id -> text.append(", process ").append(id));
    each.threadId().ifPresent(id -> text.append(", thread ").append(id));
    each.threadName().ifPresent(name -> text.append(" \"").append(name).append('"'));
    each.acquiredAt()
        .ifPresent(at -> text.append(", since ").append(at.truncatedTo(ChronoUnit.MILLIS)));
    if (each.acquiredAt().isEmpty()) {
      each.askedAt().ifPresent(at -> text.append(", asked at ").append(at));
    }
    if (each.holdCount() > 1) {
      text.append(", hold count ").append(each.holdCount());
    }
    text.append(
        each.holdCount() == 0
            ? ", place kept for "
            : each.isReleased()
                ? ", released, and busy for the rest of its minimum: "
                : ", lease left ");
    text.append(seconds(each.remaining()));
    return this;
  }

  private static String seconds(Duration time) {
    return time.equals(LockOptions.MAX_LEASE)
        ? "without an end"
        : String.format(Locale.ROOT, "%.1f s", time.toMillis() / 1_000.0);
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
