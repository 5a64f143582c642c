package io.mortise.schedules.model;

import io.mortise.core.Lease;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The ends of leases, minima and waits: when they come, and what they change. */
final class Ends {
  /** By how much an end may be late in a process that stands still for moments. */
  private static final long LATE = 500_000_000L;

  /** How long before an end nobody looks any more: the look may be late too. */
  private static final long EARLY = 200_000_000L;

  /** A time in which it is not certain what holds; no call is made then. */
  record Window(long start, long end) {}

  private final Model model;

  Ends(Model model) {
    this.model = model;
  }

  /** Returns the first window that has not ended, with those that it runs into; or null. */
  Window firstWindow(long nowNanos) {
    List<Window> windows = new ArrayList<>();
    for (Hold hold : model.holds) {
      if (hold.isLive() && !model.isTouched(hold)) {
        if (!hold.isRenewed()) {
          windows.add(new Window(hold.end, endInRedis(hold)));
        }
        if (hold.latestKeptEnd > nowNanos) {
          windows.add(new Window(hold.earliestKeptEnd, hold.latestKeptEnd + LATE));
        }
      }
    }
    model.rests.forEach(
        rest -> windows.add(new Window(rest.earliestEnd(), rest.latestEnd() + LATE)));
    for (Waiter waiter : model.waiters) {
      if (waiter.isBounded()) {
        windows.add(new Window(waiter.endNanos(), waiter.endNanos() + LATE));
      }
    }
    windows.removeIf(window -> window.end <= nowNanos);
    windows.replaceAll(window -> new Window(window.start - EARLY, window.end));
    windows.sort(Comparator.comparingLong(Window::start));
    Window first = null;
    for (Window window : windows) {
      if (first == null) {
        first = window;
      } else if (window.start <= first.end) {
        first = new Window(first.start, Math.max(first.end, window.end));
      }
    }
    return first;
  }

  private static long endInRedis(Hold hold) {
    return hold.end + hold.driftNanos() + LATE;
  }

  /** Ends what has ended. */
  void expire(long nowNanos) {
    for (Model.Rest rest : List.copyOf(model.rests)) {
      if (rest.latestEnd() + LATE <= nowNanos) {
        model.rests.remove(rest);
        model.disturb(rest.leaf().key, nowNanos);
      }
    }
    for (Hold hold : model.holds) {
      if (model.isTouched(hold)) {
        if (!hold.lost && hold.lease.state() == Lease.State.LOST) {
          hold.lost = true;
          model.disturb(hold.leaf.key, nowNanos); // what ended before is judged now
        }
      } else if (hold.isLive() && !hold.isRenewed() && endInRedis(hold) <= nowNanos) {
        if (hold.leaf.shared && hold.lease.isValid()) {
          hold.observe(nowNanos); // it shares the hold of a reader whose lease is longer
        } else {
          hold.lost = true;
          model.disturb(hold.leaf.key, nowNanos);
        }
      }
    }
    for (Whole handle : model.handles) {
      if (handle.depth > 0 && handle.isLost()) {
        for (Hold member : handle.members) {
          if (member.isLive()) {
            model.keepRest(member, nowNanos);
            member.lost = true;
            model.disturb(member.leaf.key, nowNanos);
          }
        }
      }
    }
  }
}
