package io.mortise.schedules.model;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.schedules.model.Actor.Outcome;
import io.mortise.testkit.InMemoryRedis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** Compares leases, hold counts and keys with the model, between two calls and at the end. */
final class Checks {
  private final InMemoryRedis redis;
  private final Model model;
  private final Outcomes outcomes;

  Checks(InMemoryRedis redis, Model model, Outcomes outcomes) {
    this.redis = redis;
    this.model = model;
    this.outcomes = outcomes;
  }

  /**
   * @param asks whether threads also ask for the hold counts of what they have lost, by which they
   *     know of the loss
   */
  void check(List<Actor> actors, boolean asks) throws InterruptedException {
    long now = System.nanoTime();
    model.holds.forEach(this::checkLease);
    for (Leaf leaf : Leaf.values()) {
      if (!model.isDisturbed(leaf.key, now)) {
        checkKey(leaf);
      }
    }
    for (Actor actor : actors) {
      if (model.waiter(actor) == null) {
        checkCounts(actor, asks || actor.asksForAll);
        actor.asksForAll = false;
      }
    }
  }

  private void checkLease(Hold hold) {
    if (hold.isLive() && !model.isTouched(hold)) {
      hold.observe(System.nanoTime());
    } else if (hold.lost && hold.lease.state() != Lease.State.LOST) {
      throw new AssertionError(hold + " is not lost: " + hold.lease);
    }
  }

  private void checkKey(Leaf leaf) {
    Object exists = redis.command("EXISTS", leaf.key);
    if (!exists.equals(model.isBusy(leaf.key) ? 1L : 0L)) {
      throw new AssertionError(
          "%s: EXISTS is %s: %s".formatted(leaf.key, exists, redis.command("HGETALL", leaf.key)));
    }
  }

  private void checkCounts(Actor actor, boolean all) throws InterruptedException {
    List<Target> asked =
        Arrays.stream(Target.values())
            .filter(target -> all || !model.hasLost(actor, target))
            .sorted(Comparator.comparing(target -> !target.isMulti())) // they give up the others
            .toList();
    if (all) { // before: others may get what the thread gives up
      model.toldOfAllLosses(actor, System.nanoTime());
    }
    Outcome outcome = outcomes.ask(actor, () -> counts(actor, asked));
    List<Integer> expected = asked.stream().map(t -> model.holdCount(actor, t)).toList();
    if (!expected.equals(outcome.value())) {
      throw new AssertionError(
          "%s has hold counts %s, not %s".formatted(actor, outcome, expected), outcome.thrown());
    }
  }

  private static List<Integer> counts(Actor actor, List<Target> targets) {
    return targets.stream().map(target -> actor.locks.get(target).holdCount()).toList();
  }

  /** Checks that Redis has nothing but tokens and records, and that the clients use nothing. */
  void checkNothingLeft(List<LockClient> clients) {
    List<Object> left = new ArrayList<>();
    for (Object key : (List<?>) redis.command("KEYS", "*")) {
      if (!((String) key).startsWith("redisson_lock_token:")
          && !((String) key).startsWith("mortise_client:")) {
        left.add(key);
      }
    }
    for (LockClient client : clients) {
      if (!client.status().isIdle()) {
        left.add(client.status());
      }
    }
    if (!left.isEmpty()) {
      throw new AssertionError("left over: " + left);
    }
  }
}
