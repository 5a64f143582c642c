package io.mortise.schedules.model;

import io.mortise.core.LockClient;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The holders of all locks as the documents promise them, with which a sequence is compared. It
 * knows nothing of Redis, scripts and messages. A release takes effect when its call begins, an
 * acquisition when its call has returned.
 */
final class Model {
  /** The mark of a level that a thread has entered by the leaf itself. */
  static final Object ITSELF = new Object();

  private static final long SECOND = 1_000_000_000L;

  /** After a waiter has left, a read-write lock may refuse attempts for its sake. */
  private static final long READ_WRITE_REFUSES_NANOS = 11 * SECOND;

  /** The rest of a minimum, or a hold of Redisson: nobody can release it. */
  record Rest(Leaf leaf, long earliestEnd, long latestEnd) {}

  final List<Hold> holds = new ArrayList<>();
  final List<Whole> wholes = new ArrayList<>();
  final List<Whole> handles = new ArrayList<>();
  final List<Waiter> waiters = new ArrayList<>();
  final List<Rest> rests = new ArrayList<>();
  private final Map<String, Long> disturbedUntil = new HashMap<>();
  private final Set<LockClient> closed = new HashSet<>();

  // ---- questions

  Hold held(Actor actor, Leaf leaf) {
    return holds.stream()
        .filter(hold -> hold.owned && hold.actor == actor && hold.leaf == leaf)
        .findFirst()
        .orElse(null);
  }

  /** Returns the acquisition that the actor is in; null if it waits for nothing. */
  Waiter waiter(Actor actor) {
    Waiter found = null;
    for (Waiter each : waiters) {
      found = each.actor == actor ? each : found;
    }
    return found;
  }

  Whole whole(Actor actor, Target target) {
    return wholes.stream()
        .filter(whole -> whole.actor == actor && whole.target == target)
        .findFirst()
        .orElse(null);
  }

  int holdCount(Actor actor, Target target) {
    if (target.isMulti()) {
      Whole whole = whole(actor, target);
      return whole == null || whole.isLost() ? 0 : whole.depth;
    }
    Hold hold = target.isAny() ? null : held(actor, target.leaves.get(0));
    return hold == null || hold.lost ? 0 : hold.depth();
  }

  /** Returns whether the client of the actor is closed. */
  boolean isClosed(Actor actor) {
    return closed.contains(actor.client);
  }

  /** Returns whether Redis has a hold of that key. */
  boolean isBusy(String key) {
    return holds.stream().anyMatch(hold -> hold.isLive() && hold.leaf.key.equals(key))
        || rests.stream().anyMatch(rest -> rest.leaf.key.equals(key));
  }

  boolean isBusy(Leaf leaf) {
    return holds.stream().anyMatch(hold -> hold.isLive() && hold.leaf == leaf)
        || rests.stream().anyMatch(rest -> rest.leaf == leaf);
  }

  /** Returns whether a waiter may hold the key for a moment, or keep others from it. */
  boolean isDisturbed(String key, long nowNanos) {
    return isDisturbed(key, nowNanos, null);
  }

  /** Returns the same, by others than that waiter. */
  boolean isDisturbed(String key, long nowNanos, Waiter except) {
    return disturbedUntil.getOrDefault(key, Long.MIN_VALUE) > nowNanos
        || waiters.stream()
            .filter(waiter -> waiter != except)
            .filter(waiter -> waiter.call.target().isMulti() || isReadWrite(key))
            .anyMatch(waiter -> wants(waiter, key));
  }

  boolean isWanted(String key) {
    return waiters.stream().anyMatch(waiter -> wants(waiter, key));
  }

  private static boolean wants(Waiter waiter, String key) {
    return waiter.call.target().leaves.stream().anyMatch(leaf -> leaf.key.equals(key));
  }

  private static boolean isReadWrite(String key) {
    return key.equals(Leaf.READ.key) || key.equals(Leaf.FAIR_READ.key);
  }

  /** Notes that before that time it was not certain whether the key was busy. */
  void disturb(String key, long untilNanos) {
    disturbedUntil.merge(key, untilNanos, Math::max);
  }

  /** Returns whether the waiter's thread holds the leaf already. */
  boolean isOwn(Waiter waiter, Leaf leaf) {
    Hold own = waiter.call.op().isHandle() ? null : held(waiter.actor, leaf);
    return own != null && !own.known;
  }

  /**
   * Returns whether a waiter re-enters the hold, and leaves it, again and again; no handle does.
   */
  boolean isTouched(Hold hold) {
    return hold.owned
        && waiters.stream()
            .anyMatch(
                waiter ->
                    waiter.actor == hold.actor
                        && !waiter.call.op().isHandle()
                        && waiter.call.target().leaves.contains(hold.leaf));
  }

  // ---- changes

  /** Applies an acquisition that has ended with the lock. */
  void acquired(Waiter waiter, Grant grant, long fromNanos, long nowNanos) {
    Call call = waiter.call;
    Target target = call.target();
    boolean owned = !call.op().isHandle();
    Whole again = owned && target.isMulti() ? whole(waiter.actor, target) : null;
    Whole lost = again != null && again.known ? again : null;
    again = lost == null ? again : null;
    List<Hold> members = new ArrayList<>();
    for (int i = 0; i < grant.leaves().size(); i++) {
      Leaf leaf = grant.leaves().get(i);
      Hold hold = owned ? held(waiter.actor, leaf) : null;
      if (hold == null || hold.known) {
        Hold lostHold = hold;
        hold = new Hold(leaf, waiter.actor, owned);
        hold.lease = grant.members().get(i);
        if (lostHold != null) {
          holds.remove(lostHold);
          lostHold.replaced = null; // the last loss alone is remembered
          hold.replaced = lostHold;
        }
        holds.add(hold);
      }
      members.add(hold);
    }
    Whole whole = again == null ? new Whole(target, waiter.actor, members, grant.lease()) : again;
    whole.depth += again == null ? 0 : 1;
    if (lost != null) {
      wholes.remove(lost);
      lost.replaced = null;
      whole.replaced = lost;
    }
    if (!owned) {
      handles.add(whole);
    } else if (target.isMulti() && again == null) {
      wholes.add(whole);
    }
    double tolerated = target.isMulti() && again == null ? 0.1 : 0;
    Object mark = owned && !target.isMulti() ? ITSELF : whole;
    members.forEach(hold -> hold.enter(mark, call, fromNanos, nowNanos, tolerated));
  }

  /** Removes a waiter, which has or has not got the lock. */
  void ended(Waiter waiter, long nowNanos) {
    waiters.remove(waiter);
    Call call = waiter.call;
    for (Leaf leaf : call.target().leaves) {
      if (leaf.isReadWrite()) {
        disturb(leaf.key, nowNanos + READ_WRITE_REFUSES_NANOS);
      } else if (call.target().isMulti()) {
        disturb(leaf.key, nowNanos + SECOND);
      }
      if (isOwn(waiter, leaf)) {
        held(waiter.actor, leaf).attempted(call, nowNanos);
      }
    }
  }

  Verdict unlock(Actor actor, Target target, long nowNanos) {
    if (!target.isMulti()) {
      Hold hold = held(actor, target.leaves.get(0));
      if (hold == null) {
        return Verdict.NOT_HELD;
      }
      if (!hold.hasLevelOf(ITSELF) && hold.replaced != null && hold.replaced.hasLevelOf(ITSELF)) {
        hold.replaced.exit(ITSELF);
        return Verdict.LOST;
      }
      exit(hold, ITSELF, nowNanos);
      hold.known |= hold.lost;
      return hold.lost ? Verdict.LOST : Verdict.DONE;
    }
    Whole whole = whole(actor, target);
    if (whole == null) {
      return Verdict.NOT_HELD;
    }
    if (!whole.known) {
      whole.members.forEach(member -> exit(member, whole, nowNanos));
    }
    if (--whole.depth == 0) {
      wholes.remove(whole);
      if (whole.replaced != null) {
        wholes.add(whole.replaced);
      }
    } else if (whole.isLost()) {
      giveUp(whole, nowNanos);
    }
    return whole.isLost() ? Verdict.LOST : Verdict.DONE;
  }

  /** Its thread has been told that the whole is lost, and gives its members up. */
  private void giveUp(Whole whole, long nowNanos) {
    for (int i = 0; i < whole.depth && !whole.known; i++) {
      for (Hold member : whole.members) {
        exit(member, whole, nowNanos);
        disturb(member.leaf.key, nowNanos + SECOND);
      }
    }
    whole.known = true;
  }

  /** An acquisition that would be a re-entry has thrown the loss of what the thread has. */
  void toldOfLoss(Waiter waiter, long nowNanos) {
    Target target = waiter.call.target();
    if (target.isMulti()) {
      giveUp(whole(waiter.actor, target), nowNanos);
    } else {
      held(waiter.actor, target.leaves.get(0)).known = true;
    }
  }

  /** The thread has asked for all of its hold counts. */
  void toldOfAllLosses(Actor actor, long nowNanos) {
    wholes.stream()
        .filter(whole -> whole.actor == actor && whole.isLost())
        .forEach(whole -> giveUp(whole, nowNanos));
    holds.stream()
        .filter(hold -> hold.owned && hold.actor == actor && hold.lost)
        .forEach(hold -> hold.known = true);
  }

  /** Returns whether the thread has a hold of the target that it has lost. */
  boolean hasLost(Actor actor, Target target) {
    if (target.isMulti()) {
      Whole whole = whole(actor, target);
      return whole != null && whole.isLost();
    }
    Hold hold = target.isAny() ? null : held(actor, target.leaves.get(0));
    return hold != null && hold.lost;
  }

  Verdict close(Whole handle, long nowNanos) {
    boolean first = handle.depth == 1;
    handle.depth = 0;
    if (handle.isLost()) {
      boolean reported = handle.lossReported || !first;
      handle.lossReported = true;
      handle.members.forEach(holds::remove);
      return reported ? Verdict.DONE : Verdict.LOST;
    }
    if (first) {
      handle.members.forEach(member -> exit(member, handle, nowNanos));
    }
    return Verdict.DONE;
  }

  private void exit(Hold hold, Object mark, long nowNanos) {
    hold.exit(mark);
    if (hold.depth() == 0) {
      release(hold, nowNanos);
    }
  }

  private void release(Hold hold, long nowNanos) {
    if (holds.remove(hold) && hold.replaced != null && hold.replaced.depth() > 0) {
      holds.add(hold.replaced);
    }
    if (hold.isLive()) {
      keepRest(hold, nowNanos);
    }
  }

  /** Leaves the rest of the minimum of a hold that ends. */
  void keepRest(Hold hold, long nowNanos) {
    if (hold.latestKeptEnd > nowNanos) {
      rests.add(new Rest(hold.leaf, hold.earliestKeptEnd, hold.latestKeptEnd));
    }
  }

  /**
   * Takes the holds of these leaves away, as a forced release does, or an eviction. A waiter of the
   * same client may wait on, until that client has noticed it.
   */
  void take(List<Leaf> leaves, long noticedNanos) {
    leaves.forEach(leaf -> disturb(leaf.key, noticedNanos));
    rests.removeIf(rest -> leaves.contains(rest.leaf));
    holds.stream().filter(hold -> leaves.contains(hold.leaf)).forEach(hold -> hold.taken = true);
    for (Whole handle : handles) {
      if (handle.depth > 0 && handle.members.stream().anyMatch(member -> member.taken)) {
        handle.members.forEach(member -> releaseAfterLoss(member, noticedNanos));
      }
    }
  }

  /** A handle that has lost one of its members releases the others when it notices that. */
  private void releaseAfterLoss(Hold member, long noticedNanos) {
    disturb(member.leaf.key, noticedNanos);
    if (!member.taken) {
      member.taken = true;
      keepRest(member, noticedNanos);
    }
  }

  /** Ends the holds of a client that is closed. Minima last on. */
  void close(LockClient client, long nowNanos) {
    closed.add(client);
    for (Hold hold : holds) {
      if (hold.actor.client == client && hold.isLive()) {
        keepRest(hold, nowNanos);
        hold.lost = true;
      }
    }
  }

  /** Notes a hold of Redisson. */
  void heldByOthers(Leaf leaf, long endNanos) {
    rests.add(new Rest(leaf, endNanos, endNanos));
  }

  /** Returns whether the key is busy without a hold of a client, whose end notifies nobody. */
  boolean hasRest(String key) {
    return rests.stream().anyMatch(rest -> rest.leaf().key.equals(key));
  }

  /** Those who had the taken holds know of it now. */
  void noticeTaken() {
    holds.stream().filter(hold -> hold.taken).forEach(hold -> hold.lost = true);
  }
}
