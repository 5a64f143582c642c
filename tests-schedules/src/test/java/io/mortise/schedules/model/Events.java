package io.mortise.schedules.model;

import io.mortise.schedules.model.Actor.Outcome;
import io.mortise.testkit.InMemoryRedis;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;

/**
 * What happens to a lock without its holder: it is forced, deleted, or held by Redisson; to a
 * waiter, which is interrupted; and to a client, which is closed.
 */
final class Events {
  /** After which time a client has asked Redis for each of its holds. */
  private static final Duration UNTIL_NOTICED = Duration.ofSeconds(12);

  /** After which time a waiter that nothing notifies has asked: a lease. */
  private static final Duration UNTIL_ASKED = Duration.ofSeconds(31);

  private static final Object DONE = true;

  private static final String REDISSON = "33333333-0000-4000-8000-333333333333:1";

  private final InMemoryRedis redis;
  private final Model model;
  private final Outcomes outcomes;
  private final VirtualTime time;
  private final Trace trace;

  Events(InMemoryRedis redis, Model model, Outcomes outcomes, VirtualTime time, Trace trace) {
    this.redis = redis;
    this.model = model;
    this.outcomes = outcomes;
    this.time = time;
    this.trace = trace;
  }

  private static long now() {
    return System.nanoTime();
  }

  /** Has an actor force a leaf. A multi-lock would force its members one after the other. */
  void force(Actor actor, Target target, boolean unlockAtOnce) throws InterruptedException {
    trace.note(actor + ": " + target + ".forceUnlock()");
    if (model.isClosed(actor)) {
      Callable<Object> force = actor.locks.get(target)::forceUnlock;
      Outcomes.expect(Set.of(Verdict.CLOSED), outcomes.ask(actor, force));
      return;
    }
    boolean busy = target.leaves.stream().anyMatch(model::isBusy);
    boolean certain = target.leaves.stream().noneMatch(leaf -> model.isDisturbed(leaf.key, now()));
    model.take(target.leaves, now() + UNTIL_NOTICED.toNanos());
    Outcome outcome = outcomes.ask(actor, () -> actor.locks.get(target).forceUnlock());
    if (outcome.thrown() != null || (certain && !outcome.value().equals(busy))) {
      throw new AssertionError("forceUnlock returns " + outcome, outcome.thrown());
    }
    if (unlockAtOnce) {
      unlockForced(target);
    }
    noticeLosses(UNTIL_NOTICED);
  }

  /**
   * Has the holder unlock, which need not have noticed yet that its hold is gone. Readers of a
   * client may share one hold, which their last one releases.
   */
  private void unlockForced(Target target) throws InterruptedException {
    for (Hold hold : List.copyOf(model.holds)) {
      if (hold.leaf == target.leaves.get(0)
          && hold.taken
          && hold.owned
          && !hold.lost
          && !hold.leaf.shared
          && hold.depth() == 1
          && hold.hasLevelOf(Model.ITSELF)
          && model.waiter(hold.actor) == null) {
        trace.note(hold.actor + ": " + target + ".unlock() at once");
        hold.lost = true;
        Verdict expected = model.unlock(hold.actor, target, now());
        Runnable unlock = hold.actor.locks.get(target)::unlock;
        Outcomes.expect(Set.of(expected), outcomes.ask(hold.actor, callable(unlock)));
      }
    }
  }

  private static Callable<Object> callable(Runnable call) {
    return Executors.callable(call, DONE);
  }

  /** Closes the client of an actor. */
  void closeClient(Actor actor, Actor closer) throws InterruptedException {
    trace.note("the client of %s is closed".formatted(actor));
    model.close(actor.client, now());
    Runnable close = actor.client::close;
    Outcomes.expect(Set.of(Verdict.DONE), outcomes.ask(closer, callable(close)));
    time.settle();
  }

  void delete(Leaf leaf) throws InterruptedException {
    trace.note("DEL " + leaf.key);
    Duration noticed = model.hasRest(leaf.key) ? UNTIL_ASKED : UNTIL_NOTICED;
    List<Leaf> sides =
        Arrays.stream(Leaf.values()).filter(side -> side.key.equals(leaf.key)).toList();
    model.take(sides, now() + noticed.toNanos());
    redis.command("DEL", leaf.key);
    noticeLosses(noticed);
  }

  private void noticeLosses(Duration noticed) throws InterruptedException {
    time.pass(noticed.toNanos());
    model.noticeTaken();
    time.settle();
  }

  /** Has Redisson hold a lock that is free, and that nobody waits for. */
  void occupy(Call call) {
    Leaf leaf = call.target().leaves.get(0);
    if (leaf.isReadWrite()
        || model.isBusy(leaf.key)
        || model.isWanted(leaf.key)
        || model.isDisturbed(leaf.key, now())) {
      return;
    }
    trace.note(call.toString());
    redis.command("HSET", leaf.key, REDISSON, "1");
    redis.command("PEXPIRE", leaf.key, Long.toString(call.time().toMillis()));
    model.heldByOthers(leaf, now() + call.time().toNanos());
  }

  /** Interrupts one of the waiters. */
  void interrupt(int pick) throws InterruptedException {
    if (model.waiters.isEmpty()) {
      return;
    }
    Waiter waiter = model.waiters.get(pick % model.waiters.size());
    trace.note("%s is interrupted".formatted(waiter.actor));
    waiter.interrupted = true;
    waiter.actor.interrupt();
    time.settle();
  }
}
