package io.mortise.it.chaos;

import java.util.List;

/**
 * The observations of one round.
 *
 * @param unplanned whether the sentinels replaced a master that no fault had struck: then data was
 *     lost, and two masters may have answered for a while
 * @param allInMillis how long the last thread waited when all asked for the lock after the faults
 * @param stuck what a process printed when not all of its threads got the lock within the bound
 */
record RoundNotes(boolean unplanned, long allInMillis, List<String> stuck) {
  /** Of a round in which nothing was seen. */
  static final RoundNotes NONE = new RoundNotes(false, 0, List.of());
}
