package io.mortise.schedules.model;

import java.util.EnumSet;
import java.util.Set;

/** How an acquisition may end, and when it has to, by what the {@link Model} has at the moment. */
final class Rules {
  private final Model model;

  Rules(Model model) {
    this.model = model;
  }

  boolean isFree(Waiter waiter, Leaf leaf) {
    if (model.rests.stream().anyMatch(rest -> rest.leaf().excludes(leaf))) {
      return false;
    }
    return model.holds.stream()
        .filter(hold -> hold.isLive() && hold.leaf.excludes(leaf))
        .allMatch(hold -> leaf.shared && hold.owned && hold.actor == waiter.actor);
  }

  private boolean isGrantable(Waiter waiter) {
    if (waiter.call.target().isAny()) {
      return waiter.call.target().leaves.stream().anyMatch(leaf -> isFree(waiter, leaf));
    }
    return waiter.call.target().leaves.stream()
        .allMatch(leaf -> model.isOwn(waiter, leaf) || isFree(waiter, leaf));
  }

  boolean isReentry(Waiter waiter) {
    Target target = waiter.call.target();
    if (!target.isMulti()) {
      return model.isOwn(waiter, target.leaves.get(0));
    }
    Whole whole = model.whole(waiter.actor, target);
    return !waiter.call.op().isHandle() && whole != null && !whole.known;
  }

  /** Returns whether a thread that reads is refused to write, unless it would only enter again. */
  private boolean wouldDeadlock(Waiter waiter) {
    return waiter.call.target().leaves.stream()
        .filter(leaf -> leaf.isReadWrite() && !leaf.shared)
        .filter(leaf -> !model.isOwn(waiter, leaf))
        .map(leaf -> model.held(waiter.actor, leaf.readSide()))
        .anyMatch(reader -> reader != null && !reader.lost);
  }

  private boolean losesOwn(Waiter waiter) {
    Target target = waiter.call.target();
    if (target.isMulti() && isReentry(waiter)) {
      return model.whole(waiter.actor, target).isLost();
    }
    return !waiter.call.op().isHandle()
        && waiter.call.target().leaves.stream()
            .anyMatch(leaf -> model.isOwn(waiter, leaf) && model.held(waiter.actor, leaf).lost);
  }

  /** Returns the ways in which the acquisition may end now. */
  Set<Verdict> expected(Waiter waiter, long nowNanos) {
    if (model.isClosed(waiter.actor) && !isReentry(waiter)) {
      return losesOwn(waiter)
          ? EnumSet.of(Verdict.LOST, Verdict.CLOSED)
          : EnumSet.of(Verdict.CLOSED);
    }
    if (!isReentry(waiter) && wouldDeadlock(waiter)) {
      boolean waits = waiter.call.op().isUnbounded() || !waiter.longestWait().isZero();
      return EnumSet.of(waits ? Verdict.DEADLOCK : Verdict.REFUSED);
    }
    boolean lost = losesOwn(waiter);
    if (isReentry(waiter)) {
      return EnumSet.of(lost ? Verdict.LOST : Verdict.DONE);
    }
    Set<Verdict> expected = EnumSet.noneOf(Verdict.class);
    boolean grantable = isGrantable(waiter);
    if (lost) {
      expected.add(Verdict.LOST);
    } else if (grantable && !isOvertaking(waiter)) {
      expected.add(Verdict.DONE);
    }
    if ((!grantable || isOvertaking(waiter) || isAnyDisturbed(waiter, nowNanos))
        && nowNanos >= waiter.endNanos()) {
      expected.add(Verdict.REFUSED);
    }
    if (waiter.interrupted && waiter.call.op().isInterruptible()) {
      expected.add(Verdict.INTERRUPTED);
    }
    return expected;
  }

  private boolean isAnyDisturbed(Waiter waiter, long nowNanos) {
    return waiter.call.target().leaves.stream()
        .anyMatch(leaf -> model.isDisturbed(leaf.key, nowNanos, waiter));
  }

  /** Returns whether an earlier waiter of a fair lock is to be served first. */
  private boolean isOvertaking(Waiter waiter) {
    Target target = waiter.call.target();
    return target.name().startsWith("FAIR")
        && model.waiters.stream()
            .takeWhile(earlier -> earlier != waiter)
            .filter(earlier -> !model.isClosed(earlier.actor))
            .filter(earlier -> earlier.call.target().name().startsWith("FAIR"))
            .filter(earlier -> earlier.call.target().leaves.get(0).excludes(target.leaves.get(0)))
            .anyMatch(this::isGrantable);
  }

  /** Returns whether the acquisition has to end without anything else happening. */
  boolean hasToEnd(Waiter waiter, long nowNanos) {
    if (nowNanos > waiter.endNanos()
        || isReentry(waiter)
        || wouldDeadlock(waiter)
        || model.isClosed(waiter.actor)
        || (waiter.interrupted && waiter.call.op().isInterruptible())) {
      return true;
    }
    return isGrantable(waiter) && !isBehindWriter(waiter);
  }

  /** New readers wait while a writer waits. */
  private boolean isBehindWriter(Waiter waiter) {
    return model.waiters.stream()
        .filter(other -> other != waiter)
        .flatMap(other -> other.call.target().leaves.stream())
        .anyMatch(
            wanted ->
                waiter.call.target().leaves.stream().anyMatch(l -> l.shared && wanted.excludes(l)));
  }
}
