package io.mortise.schedules.model;

import io.mortise.schedules.model.Actor.Outcome;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The ends of calls. Each is compared with what the {@link Rules} allow, and then applied to the
 * {@link Model}.
 */
final class Outcomes {
  /** For how long a call may take that waits for nobody. */
  static final long STEP_NANOS = 1_000_000_000L;

  private final Queue<Outcome> ended = new ConcurrentLinkedQueue<>();
  private final Map<Actor, Outcome> answers = new HashMap<>();
  private final Tokens tokens = new Tokens();
  private final Model model;
  private final Rules rules;
  private final Ends ends;
  private final Trace trace;

  Outcomes(Model model, Rules rules, Ends ends, Trace trace) {
    this.model = model;
    this.rules = rules;
    this.ends = ends;
    this.trace = trace;
  }

  /** Returns where the actors put the ends of their calls. */
  Queue<Outcome> queue() {
    return ended;
  }

  /** Has an actor make a call that waits for nobody. */
  Outcome ask(Actor actor, Callable<Object> call) throws InterruptedException {
    answers.remove(actor);
    actor.begin(call);
    long began = System.nanoTime();
    while (!answers.containsKey(actor)) {
      if (System.nanoTime() - began > STEP_NANOS) {
        throw new AssertionError("the call of %s does not end".formatted(actor));
      }
      Thread.sleep(1);
      update();
    }
    return answers.get(actor);
  }

  /** Applies what has ended until now: leases, minima and calls. */
  void update() {
    ends.expire(System.nanoTime());
    for (Outcome outcome = ended.poll(); outcome != null; outcome = ended.poll()) {
      Waiter waiter = model.waiter(outcome.actor());
      if (waiter == null) {
        answers.put(outcome.actor(), outcome);
      } else {
        ended(waiter, outcome);
      }
    }
  }

  private void ended(Waiter waiter, Outcome outcome) {
    Verdict verdict = expect(rules.expected(waiter, outcome.atNanos()), outcome);
    if (outcome.interrupted() != (waiter.interrupted && verdict != Verdict.INTERRUPTED)) {
      throw new AssertionError("the interrupt status of " + outcome);
    }
    if (verdict == Verdict.DONE && waiter.call.target().isAny()) {
      checkFree(waiter, (Grant) outcome.value());
    }
    boolean wasReentry = rules.isReentry(waiter);
    List<Leaf> before =
        waiter.call.target().leaves.stream().filter(leaf -> model.isOwn(waiter, leaf)).toList();
    model.ended(waiter, outcome.atNanos());
    if (verdict == Verdict.LOST && wasReentry) {
      model.toldOfLoss(waiter, outcome.atNanos());
    } else if (verdict == Verdict.LOST) { // of one member, at least
      waiter.actor.asksForAll = true;
    }
    if (verdict == Verdict.DONE) {
      acquired(waiter, outcome, before);
    }
    for (Hold hold : model.holds) {
      if (hold.actor == waiter.actor && hold.isLive() && !model.isTouched(hold)) {
        hold.observe(System.nanoTime());
      }
    }
    if (verdict != Verdict.DONE || waiter.call.op().isUnbounded()) {
      trace.noteEnd(waiter.actor, verdict, outcome.atNanos());
    }
  }

  /** Checks which of the leaves was granted: one of them, which was free. */
  private void checkFree(Waiter waiter, Grant grant) {
    if (grant.leaves().size() != 1 || !rules.isFree(waiter, grant.leaves().get(0))) {
      throw new AssertionError("%s got %s, which is not free".formatted(waiter.actor, grant));
    }
  }

  private void acquired(Waiter waiter, Outcome outcome, List<Leaf> before) {
    Grant grant = (Grant) outcome.value();
    model.acquired(waiter, grant, waiter.earliestGrant(outcome.atNanos()), outcome.atNanos());
    for (Leaf leaf : grant.leaves()) {
      if (waiter.call.op().isHandle() || !before.contains(leaf)) {
        tokens.acquired(leaf, grant.lease().fencingToken());
      }
    }
  }

  static Verdict expect(Set<Verdict> expected, Outcome outcome) {
    Verdict verdict = Verdict.of(outcome);
    if (!expected.contains(verdict)) {
      throw new AssertionError(
          "%s, not %s: %s".formatted(verdict, expected, outcome), outcome.thrown());
    }
    return verdict;
  }
}
