package io.mortise.spring.boot.actuate;

import io.mortise.core.LockInspection;
import io.mortise.core.LockInspection.Participant;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The holders and waiters of a lock, as the endpoint shows them; see {@link LockInspection}. What
 * is not known is null.
 *
 * @param complete false when not all of the lock was read
 */
public record LockDescriptor(
    String name,
    String mode,
    @Nullable Long lastToken,
    List<ParticipantDescriptor> holders,
    List<ParticipantDescriptor> waiters,
    long queueLength,
    boolean complete) {

  static LockDescriptor of(LockInspection lock) {
    return new LockDescriptor(
        lock.name(),
        lock.mode().name(),
        orNull(lock.lastToken()),
        lock.holders().stream().map(ParticipantDescriptor::of).toList(),
        lock.waiters().stream().map(ParticipantDescriptor::of).toList(),
        lock.queueLength(),
        lock.isComplete());
  }

  private static @Nullable Long orNull(OptionalLong number) {
    return number.isPresent() ? number.getAsLong() : null;
  }

  /**
   * A holder or a waiter; see {@link Participant}.
   *
   * @param remainingMillis the remaining lease, or for how long a waiter keeps its place
   * @param released whether a holder has released the lock, which stays busy until its minimum is
   *     over
   */
  public record ParticipantDescriptor(
      String id,
      String access,
      @Nullable String clientId,
      boolean thisClient,
      @Nullable String host,
      @Nullable Long processId,
      @Nullable Long threadId,
      @Nullable String threadName,
      @Nullable Instant askedAt,
      @Nullable Instant acquiredAt,
      long remainingMillis,
      boolean released) {

    static ParticipantDescriptor of(Participant participant) {
      return new ParticipantDescriptor(
          participant.id(),
          participant.access().name(),
          participant.clientId().orElse(null),
          participant.isThisClient(),
          participant.host().orElse(null),
          orNull(participant.processId()),
          orNull(participant.threadId()),
          participant.threadName().orElse(null),
          participant.askedAt().orElse(null),
          participant.acquiredAt().orElse(null),
          participant.remaining().toMillis(),
          participant.isReleased());
    }
  }
}
