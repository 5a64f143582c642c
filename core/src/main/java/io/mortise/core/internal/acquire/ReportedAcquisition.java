package io.mortise.core.internal.acquire;

import io.mortise.core.internal.event.AcquisitionEvents;
import io.mortise.core.internal.event.EventContext;
import io.mortise.core.internal.lease.RedisHold;
import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.GroupProtocol;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.OwnedLease;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Acquisitions that are reported to the listeners of the client, and to Flight Recorder. Without
 * either an acquisition runs as it is.
 *
 * <p>A reported acquisition counts as under way until its outcome was reported, so that the events
 * are still taken while the client closes. A hold is reported when the caller is about to receive
 * it: what ends before that is no hold of any caller.
 *
 * <p><b>Threads.</b> Stateless; the acquiring thread calls it.
 */
public final class ReportedAcquisition {
  private ReportedAcquisition() {}

  /**
   * See {@link Acquisition#acquire}.
   *
   * @param asker the thread that asks for the lock
   */
  public static @Nullable RedisHold of(
      AcquireContext context,
      LeaseSource source,
      LockProtocol protocol,
      LeaseTerms terms,
      @Nullable Thread owner,
      Thread asker)
      throws InterruptedException {
    AcquisitionEvents events = requested(context, protocol, asker);
    if (events == null) {
      return Acquisition.acquire(context, source, protocol, terms, owner);
    }
    context.lease().operations().begin();
    RedisHold hold = null;
    try {
      hold = Acquisition.acquire(context, source, protocol, terms, owner);
      if (hold == null) {
        events.notAcquired(null);
      } else {
        hold.reportTo(events);
      }
      return hold;
    } catch (Throwable e) {
      if (hold == null) {
        events.notAcquired(e);
      } else {
        hold.drop(); // an error, as when the stack overflows, leaves no hold without an owner
      }
      throw e;
    } finally {
      context.lease().operations().end();
    }
  }

  /** See {@link GroupAcquisition#make}: each lock of the group is an acquisition of its own. */
  public static GroupAttemptResult ofGroup(
      AcquireContext context,
      List<GroupProtocol> protocols,
      LeaseTerms terms,
      @Nullable Thread owner,
      Thread asker)
      throws InterruptedException {
    List<AcquisitionEvents> events = allRequested(context, protocols, asker);
    if (events.isEmpty()) {
      return GroupAcquisition.make(context, protocols, terms, owner);
    }
    context.lease().operations().begin();
    List<? extends OwnedLease> holds = List.of();
    try {
      GroupAttemptResult result = GroupAcquisition.make(context, protocols, terms, owner);
      if (result instanceof GroupAttemptResult.Acquired acquired) {
        holds = acquired.leases();
        for (int i = 0; i < holds.size(); i++) {
          ((RedisHold) holds.get(i)).reportTo(events.get(i));
        }
      } else {
        events.forEach(each -> each.notAcquired(null));
      }
      return result;
    } catch (Throwable e) {
      if (holds.isEmpty()) {
        events.forEach(each -> each.notAcquired(e));
      } else {
        RedisHold.dropAll(holds); // as above
      }
      throw e;
    } finally {
      context.lease().operations().end();
    }
  }

  /** Returns what reports the acquisition; null if nobody listens, or memory is short. */
  private static @Nullable AcquisitionEvents requested(
      AcquireContext context, LockProtocol protocol, Thread asker) {
    EventContext events = context.lease().events();
    return events.isObserved()
        ? AcquisitionEvents.requested(events, protocol.kind(), protocol.name().value(), asker)
        : null;
  }

  /** Returns what reports the locks of a group; empty if nobody listens, or memory is short. */
  private static List<AcquisitionEvents> allRequested(
      AcquireContext context, List<GroupProtocol> protocols, Thread asker) {
    if (!context.lease().events().isObserved()) {
      return List.of();
    }
    List<AcquisitionEvents> events = new ArrayList<>(protocols.size());
    for (GroupProtocol protocol : protocols) {
      AcquisitionEvents each = requested(context, protocol, asker);
      if (each == null) {
        return List.of();
      }
      events.add(each);
    }
    return events;
  }
}
