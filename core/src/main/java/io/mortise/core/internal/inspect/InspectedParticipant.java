package io.mortise.core.internal.inspect;

import io.mortise.core.LockInspection.Participant;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/** A holder or a waiter, as an inspection found it. */
record InspectedParticipant(
    String id,
    Library library,
    Access access,
    Optional<String> clientId,
    boolean isThisClient,
    ProcessFacts process,
    OptionalLong threadId,
    Optional<String> threadName,
    Optional<Instant> askedAt,
    Optional<Instant> acquiredAt,
    int holdCount,
    Duration remaining,
    boolean isReleased)
    implements Participant {

  @Override
  public Optional<String> host() {
    return process.host();
  }

  @Override
  public OptionalLong processId() {
    return process.processId();
  }

  @Override
  public Optional<Instant> clientStartedAt() {
    return process.started();
  }

  @Override
  public Optional<String> javaVersion() {
    return process.javaVersion();
  }

  @Override
  public Optional<String> mortiseVersion() {
    return process.mortiseVersion();
  }

  @Override
  public String toString() {
    return new InspectionText().participant(this).toString();
  }
}
