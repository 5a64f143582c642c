package io.mortise.schedules.model;

import io.mortise.schedules.model.Actor.Outcome;
import io.mortise.testkit.InMemoryRedis;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/**
 * What happens to a lock without its holder: it is forced, deleted, or held by Redisson; and to a
 * waiter, which is interrupted.
 */
final class Events {
  /** After which time a client has asked Redis for each of its holds. */
  private static final Duration UNTIL_NOTICED = Duration.ofSeconds(12);

  /** After which time a waiter that nothing notifies has asked: a lease. */
  private static final Duration UNTIL_ASKED = Duration.ofSeconds(31);

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
  void force(Actor actor, Target target) throws InterruptedException {
    trace.note(actor + ": " + target + ".forceUnlock()");
    boolean busy = target.leaves.stream().anyMatch(model::isBusy);
    boolean certain = target.leaves.stream().noneMatch(leaf -> model.isDisturbed(leaf.key, now()));
    model.take(target.leaves, now() + UNTIL_NOTICED.toNanos());
    Outcome outcome = outcomes.ask(actor, () -> actor.locks.get(target).forceUnlock());
    if (outcome.thrown() != null || (certain && !outcome.value().equals(busy))) {
      throw new AssertionError("forceUnlock returns " + outcome, outcome.thrown());
    }
    noticeLosses(UNTIL_NOTICED);
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
