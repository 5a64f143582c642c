package io.mortise.schedules.model;

import io.mortise.core.Lease;
import java.util.List;

/** Holds that were acquired together: of a multi-lock by a thread, or of any lock by a handle. */
final class Whole {
  final Target target;
  final Actor actor;
  final List<Hold> members;
  final Lease lease;

  /** How often the thread has entered it; 1 for a handle until it is closed. */
  int depth = 1;

  /** Whether its thread has been told of the loss: then the members have been given up. */
  boolean known;

  /** The lost one in whose place its thread has acquired this one; or null. */
  Whole replaced;

  /** Whether the close of the handle has reported the loss. */
  boolean lossReported;

  Whole(Target target, Actor actor, List<Hold> members, Lease lease) {
    this.target = target;
    this.actor = actor;
    this.members = members;
    this.lease = lease;
  }

  boolean isLost() {
    return members.stream().anyMatch(member -> member.lost);
  }
}
