package io.mortise.core.internal.inspect;

import io.mortise.core.LockException;
import io.mortise.core.LockInspection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The result of an inspection. */
public record InspectedLock(
    String name,
    Mode mode,
    OptionalLong lastToken,
    List<Participant> holders,
    List<Participant> waiters,
    long queueLength,
    List<LockInspection> members,
    Optional<LockException> failure,
    boolean isComplete)
    implements LockInspection {

  /** Copies the lists. */
  public InspectedLock {
    holders = List.copyOf(holders);
    waiters = List.copyOf(waiters);
    members = List.copyOf(members);
  }

  /** Creates the inspection of a lock that has no key of its own, or was not read. */
  private InspectedLock(
      String name,
      Mode mode,
      List<LockInspection> members,
      Optional<LockException> failure,
      boolean isComplete) {
    this(name, mode, OptionalLong.empty(), List.of(), List.of(), 0, members, failure, isComplete);
  }

  /** Returns the inspection of a lock that is composed of others. */
  public static InspectedLock composite(String name, List<LockInspection> members) {
    boolean complete = members.stream().allMatch(LockInspection::isComplete);
    return new InspectedLock(name, Mode.COMPOSITE, members, Optional.empty(), complete);
  }

  /** Returns the inspection of a member that could not be asked. */
  public static InspectedLock failed(String name, LockException failure) {
    return new InspectedLock(name, Mode.UNKNOWN, List.of(), Optional.of(failure), false);
  }

  @Override
  public boolean isHeld() {
    return !holders.isEmpty() || members.stream().anyMatch(LockInspection::isHeld);
  }

  @Override
  public String toString() {
    return new InspectionText().lock(this, "").toString();
  }
}
