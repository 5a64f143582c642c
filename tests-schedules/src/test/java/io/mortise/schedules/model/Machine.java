package io.mortise.schedules.model;

import io.mortise.core.LockClient;
import io.mortise.schedules.model.Actor.Outcome;
import io.mortise.testkit.InMemoryRedis;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Makes the calls of a sequence and compares them with the {@link Model}. One call is in progress
 * at a time, beside those that wait. {@link VirtualTime} keeps the calls away from the ends of
 * leases and waits, {@link Outcomes} judges how each ends, {@link Events} has what no holder does,
 * and {@link Checks} compares what is left after each call.
 */
final class Machine {
  private static final class VirtualClock extends Clock {
    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }

    @Override
    public Instant instant() {
      return Instant.now(); // that of the schedule
    }
  }

  private final InMemoryRedis redis = InMemoryRedis.start(new VirtualClock());
  private final List<LockClient> clients = List.of(redis.client(), redis.client());
  private final List<Actor> actors = new ArrayList<>();
  private final Model model = new Model();
  private final Rules rules = new Rules(model);
  private final Ends ends = new Ends(model);
  private final Trace trace = new Trace();
  private final Outcomes outcomes = new Outcomes(model, rules, ends, trace);
  private final VirtualTime time = new VirtualTime(model, rules, ends, outcomes);
  private final Events events = new Events(redis, model, outcomes, time, trace);
  private final Checks checks = new Checks(redis, model, outcomes);

  private Machine() {
    for (int i = 0; i <= Call.ACTORS; i++) { // the last one closes handles if all others wait
      actors.add(new Actor(i, clients.get(i % clients.size()), outcomes.queue()));
    }
  }

  /** Returns the failure of a sequence, with its calls; null if it has none. */
  static String failureOf(List<Call> calls) {
    Machine machine = new Machine();
    try {
      for (Call call : calls) {
        machine.make(call);
      }
      machine.end();
      return null;
    } catch (AssertionError | RuntimeException | InterruptedException e) {
      StringWriter stack = new StringWriter();
      e.printStackTrace(new PrintWriter(stack));
      return machine.trace + "   " + stack;
    } finally {
      machine.close();
    }
  }

  private void close() {
    clients.forEach(LockClient::close); // ends all waits
    actors.forEach(Actor::end);
    redis.close();
  }

  // ---- calls

  private void make(Call call) throws InterruptedException {
    Actor actor = actors.get(call.actor());
    boolean waits = model.waiter(actor) != null;
    time.quiesce();
    switch (call.op()) {
      case PASS_TIME -> {
        trace.note(call.toString());
        time.pass(call.time().toNanos());
        time.settle();
      }
      case DELETE -> events.delete(call.target().leaves.get(0));
      case FOREIGN -> events.occupy(call);
      case INTERRUPT -> events.interrupt(call.pick());
      case CLOSE_CLIENT -> events.closeClient(actor, actors.get(Call.ACTORS));
      default -> {
        if (!waits) {
          make(call, actor);
        }
      }
    }
    checks.check(actors, call.pick() % 3 == 0);
  }

  /** Has an actor make a call. */
  private void make(Call call, Actor actor) throws InterruptedException {
    switch (call.op()) {
      case FORCE ->
          events.force(actor, leafOf(call.target(), call.pick()), call.pick() / 8 % 2 == 0);
      case CLOSE -> {
        if (!model.handles.isEmpty()) {
          close(actor, call.pick() % model.handles.size());
        }
      }
      case UNLOCK -> {
        if (held(actor).contains(call.target()) || isFreeOf(actor, call.target())) {
          unlock(actor, call.target());
        }
      }
      case UNLOCK_HELD -> {
        List<Target> held = held(actor);
        if (!held.isEmpty()) {
          unlock(actor, held.get(call.pick() % held.size()));
        }
      }
      default -> {
        trace.note(actor + ": " + call);
        model.waiters.add(new Waiter(actor, call, System.nanoTime()));
        actor.begin(() -> Grant.of(actor, call));
        time.settle();
      }
    }
  }

  private static Target leafOf(Target target, int pick) {
    return Target.of(target.leaves.get(pick % target.leaves.size()));
  }

  /** Returns what the thread can unlock: what it has locked by that name. */
  private List<Target> held(Actor actor) {
    List<Target> held = new ArrayList<>();
    model.holds.stream()
        .filter(hold -> hold.owned && hold.actor == actor && hold.isUnlockable())
        .forEach(hold -> held.add(Target.of(hold.leaf)));
    model.wholes.stream().filter(w -> w.actor == actor).forEach(w -> held.add(w.target));
    return held;
  }

  private boolean isFreeOf(Actor actor, Target target) {
    return target.leaves.stream().allMatch(leaf -> model.held(actor, leaf) == null);
  }

  private void unlock(Actor actor, Target target) throws InterruptedException {
    trace.note(actor + ": " + target + ".unlock()");
    Verdict expected = model.unlock(actor, target, System.nanoTime());
    release(actor, actor.locks.get(target)::unlock, expected);
  }

  private void close(Actor actor, int index) throws InterruptedException {
    Whole handle = model.handles.get(index);
    trace.note("%s: handle %d of %s .close()".formatted(actor, index, handle.target));
    release(actor, handle.lease::close, model.close(handle, System.nanoTime()));
  }

  private void release(Actor actor, Runnable call, Verdict expected) throws InterruptedException {
    Outcome outcome =
        outcomes.ask(
            actor,
            () -> {
              call.run();
              return true;
            });
    Outcomes.expect(Set.of(expected), outcome);
    time.settle();
  }

  // ---- the end

  /** Releases everything, after which nothing may be left. */
  private void end() throws InterruptedException {
    trace.note("everything is released");
    int rounds = 0;
    while (!model.waiters.isEmpty() || !model.holds.isEmpty()) {
      if (!releaseSome() && !model.waiters.isEmpty()) {
        time.quiesce();
        Waiter stuck = model.waiters.get(rounds % model.waiters.size());
        Target leaf = leafOf(stuck.call.target(), rounds / model.waiters.size());
        events.delete(leaf.leaves.get(0));
      }
      if (++rounds > 100) {
        throw new AssertionError("does not end: " + model.holds);
      }
      checks.check(actors, rounds % 3 == 0);
    }
    time.pass(Duration.ofMinutes(16).toNanos());
    checks.checkNothingLeft(clients);
  }

  private boolean releaseSome() throws InterruptedException {
    boolean released = false;
    for (Actor actor : actors) {
      time.quiesce();
      List<Target> held = held(actor);
      if (model.waiter(actor) == null && !held.isEmpty()) {
        unlock(actor, held.get(0));
        released = true;
      }
    }
    for (int i = 0; i < model.handles.size(); i++) {
      if (model.handles.get(i).depth > 0) {
        time.quiesce();
        close(actors.get(Call.ACTORS), i);
        released = true;
      }
    }
    return released;
  }
}
