package io.mortise.core.composite;

import io.mortise.core.internal.lease.LeaseStateMachine;
import io.mortise.core.internal.lease.LeaseStatus.Phase;
import io.mortise.core.spi.OwnedLease;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import java.util.function.ObjIntConsumer;

/**
 * Watches the members of a composite hold. Members that may outlast the hold are watched until the
 * hold is released. The others are watched until their own end: the loss of one may be found at its
 * release, also after the whole hold has ended, and must not be logged as a second warning.
 *
 * <p><b>Threads.</b> Any thread may call it. A member that is watched while the hold is released is
 * not watched after that, because each of the two threads first publishes and then looks: one adds
 * what ends the watch and then reads the state, the other sets the state and then ends the watches.
 */
final class MemberWatch {
  private final LeaseStateMachine state;
  private final boolean logsLosses;
  private final BooleanSupplier membersMayOutlast;
  private final ObjIntConsumer<OwnedLease> onChange;

  /** Each ends the watch of a member that may outlast the hold. */
  private final Queue<Runnable> stops = new ConcurrentLinkedQueue<>();

  /**
   * @param state the state of the hold
   * @param logsLosses whether the hold warns of the losses of its members, in place of them
   * @param membersMayOutlast whether a member may outlast the hold
   * @param onChange called with a member and its place after each change of it
   */
  MemberWatch(
      LeaseStateMachine state,
      boolean logsLosses,
      BooleanSupplier membersMayOutlast,
      ObjIntConsumer<OwnedLease> onChange) {
    this.state = state;
    this.logsLosses = logsLosses;
    this.membersMayOutlast = membersMayOutlast;
    this.onChange = onChange;
  }

  /** Watches a member from now on. */
  void begin(int place, OwnedLease member) {
    onObserved(place, member, observe(place, member));
  }

  /** Observes a member that does not count yet; returns what ends that. */
  Runnable observe(int place, OwnedLease member) {
    return member.onChangeWhileHeld(
        change -> {
          onChange.accept(member, place);
          state.ensureDelivered(); // or the member notifies the hold again
        },
        logsLosses);
  }

  /**
   * Goes on watching a member that counts now.
   *
   * @param stop ends its observation
   */
  void onObserved(int place, OwnedLease member, Runnable stop) {
    if (membersMayOutlast.getAsBoolean()) { // otherwise all the members that it ever had are kept
      stops.add(stop);
    }
    if (!member.isValid()) {
      onChange.accept(member, place);
    }
    if (state.now().phase() == Phase.RELEASED) {
      end();
    }
  }

  /** Ends the watch, when the owner of the hold gives it up. Not called when the hold is lost. */
  void end() {
    for (Runnable stop = stops.poll(); stop != null; stop = stops.poll()) {
      stop.run();
    }
  }
}
