package io.mortise.schedules.model;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.schedules.model.Actor.Outcome;
import io.mortise.schedules.model.Ends.Window;
import io.mortise.testkit.InMemoryRedis;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Makes the calls of a sequence and compares them with the {@link Model}. One call is in progress
 * at a time, beside those that wait. No call is made near the end of a lease or of a wait, where
 * both results are right: time passes until then.
 */
final class Machine {
  private static final long MILLI = 1_000_000L;

  /** For how long a call may take that waits for nobody. */
  private static final long STEP_NANOS = 1_000 * MILLI;

  /** How often waiters are looked at while time passes. */
  private static final long LOOK_NANOS = 200 * MILLI;

  /** For how long a call is watched that may have to wait. */
  private static final long WATCH_NANOS = 50 * MILLI;

  /** For how long a waiter may look for the lock, if no message tells it that it is free. */
  private static final long LATENESS_NANOS = 9_000 * MILLI;

  /** After which time a client has asked Redis for each of its holds. */
  private static final Duration UNTIL_NOTICED = Duration.ofSeconds(12);

  /** After which time a waiter that nothing notifies has asked: a lease. */
  private static final Duration UNTIL_ASKED = Duration.ofSeconds(31);

  private static final String REDISSON = "33333333-0000-4000-8000-333333333333:1";

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
  private final Queue<Outcome> outcomes = new ConcurrentLinkedQueue<>();
  private final List<Actor> actors = new ArrayList<>();
  private final Map<Actor, Outcome> answers = new HashMap<>();
  private final Model model = new Model();
  private final Rules rules = new Rules(model);
  private final Ends ends = new Ends(model);
  private final Tokens tokens = new Tokens();
  private final StringBuilder log = new StringBuilder();
  private final long began = now();
  private int number;

  private Machine() {
    for (int i = 0; i <= Call.ACTORS; i++) { // the last one closes handles if all others wait
      actors.add(new Actor(i, clients.get(i % clients.size()), outcomes));
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
      java.io.StringWriter trace = new java.io.StringWriter();
      e.printStackTrace(new java.io.PrintWriter(trace));
      return machine.log + "   " + trace;
    } finally {
      machine.close();
    }
  }

  private void close() {
    clients.forEach(LockClient::close); // ends all waits
    actors.forEach(Actor::end);
    redis.close();
  }

  private static long now() {
    return System.nanoTime();
  }

  private void note(String what) {
    log.append("%3d: after %d ms, %s%n".formatted(++number, (now() - began) / MILLI, what));
  }

  // ---- calls

  private void make(Call call) throws InterruptedException {
    Actor actor = actors.get(call.actor());
    boolean waits = model.waiters.stream().anyMatch(waiter -> waiter.actor == actor);
    quiesce();
    switch (call.op()) {
      case PASS_TIME -> {
        note(call.toString());
        pass(call.time().toNanos());
        settle();
      }
      case FORCE -> force(actor, leafOf(call.target(), call.pick()), waits);
      case DELETE -> delete(call.target().leaves.get(0));
      case FOREIGN -> occupy(call);
      case INTERRUPT -> interrupt(call.pick());
      case CLOSE -> close(actor, waits, call.pick());
      case UNLOCK -> {
        if (!waits && (held(actor).contains(call.target()) || isFreeOf(actor, call.target()))) {
          unlock(actor, call.target());
        }
      }
      case UNLOCK_HELD -> {
        List<Target> held = held(actor);
        if (!waits && !held.isEmpty()) {
          unlock(actor, held.get(call.pick() % held.size()));
        }
      }
      default -> {
        if (!waits) {
          note(actor + ": " + call);
          model.waiters.add(new Waiter(actor, call, now()));
          actor.begin(() -> Grant.of(actor, call));
          settle();
        }
      }
    }
    check();
  }

  /** Returns what the thread can unlock: what it has locked by that name. */
  private List<Target> held(Actor actor) {
    List<Target> held = new ArrayList<>();
    model.holds.stream()
        .filter(hold -> hold.owned && hold.actor == actor && hold.hasLevelOf(Model.ITSELF))
        .forEach(hold -> held.add(Target.of(hold.leaf)));
    model.wholes.stream().filter(w -> w.actor == actor).forEach(w -> held.add(w.target));
    return held;
  }

  private boolean isFreeOf(Actor actor, Target target) {
    return target.leaves.stream().allMatch(leaf -> model.held(actor, leaf) == null);
  }

  private void unlock(Actor actor, Target target) throws InterruptedException {
    note(actor + ": " + target + ".unlock()");
    release(actor, actor.locks.get(target)::unlock, model.unlock(actor, target, now()));
  }

  private void close(Actor actor, boolean waits, int pick) throws InterruptedException {
    if (waits || model.handles.isEmpty()) {
      return;
    }
    Whole handle = model.handles.get(pick % model.handles.size());
    note(
        "%s: handle %d of %s .close()"
            .formatted(actor, model.handles.indexOf(handle), handle.target));
    release(actor, handle.lease::close, model.close(handle, now()));
  }

  private void release(Actor actor, Runnable call, Verdict expected) throws InterruptedException {
    Outcome outcome =
        ask(
            actor,
            () -> {
              call.run();
              return true;
            });
    expect(Set.of(expected), outcome);
    settle();
  }

  private void force(Actor actor, Target target, boolean waits) throws InterruptedException {
    if (waits) {
      return;
    }
    note(actor + ": " + target + ".forceUnlock()");
    boolean busy = target.leaves.stream().anyMatch(model::isBusy);
    boolean certain = target.leaves.stream().noneMatch(leaf -> model.isDisturbed(leaf.key, now()));
    model.take(target.leaves, now() + UNTIL_NOTICED.toNanos());
    Outcome outcome = ask(actor, () -> actor.locks.get(target).forceUnlock());
    if (outcome.thrown() != null || (certain && !outcome.value().equals(busy))) {
      throw failure("forceUnlock returns " + outcome, outcome.thrown());
    }
    noticeLosses(UNTIL_NOTICED);
  }

  /** A multi-lock is not forced: it forces its members one after the other. */
  private static Target leafOf(Target target, int pick) {
    return Target.of(target.leaves.get(pick % target.leaves.size()));
  }

  private void delete(Leaf leaf) throws InterruptedException {
    note("DEL " + leaf.key);
    Duration noticed = model.hasRest(leaf.key) ? UNTIL_ASKED : UNTIL_NOTICED;
    model.take(
        Arrays.stream(Leaf.values()).filter(side -> side.key.equals(leaf.key)).toList(),
        now() + noticed.toNanos());
    redis.command("DEL", leaf.key);
    noticeLosses(noticed);
  }

  private void noticeLosses(Duration noticed) throws InterruptedException {
    pass(noticed.toNanos());
    model.noticeTaken();
    settle();
  }

  private void occupy(Call call) throws InterruptedException {
    Leaf leaf = call.target().leaves.get(0);
    if (leaf.isReadWrite()
        || model.isBusy(leaf.key)
        || model.isWanted(leaf.key)
        || model.isDisturbed(leaf.key, now())) {
      return;
    }
    note(call.toString());
    redis.command("HSET", leaf.key, REDISSON, "1");
    redis.command("PEXPIRE", leaf.key, Long.toString(call.time().toMillis()));
    model.heldByOthers(leaf, now() + call.time().toNanos());
  }

  private void interrupt(int pick) throws InterruptedException {
    if (model.waiters.isEmpty()) {
      return;
    }
    Waiter waiter = model.waiters.get(pick % model.waiters.size());
    note("%s is interrupted".formatted(waiter.actor));
    waiter.interrupted = true;
    waiter.actor.interrupt();
    settle();
  }

  // ---- time

  /** Lets time pass, and goes on to where it is certain what holds. */
  private void pass(long nanos) throws InterruptedException {
    long until = now() + nanos;
    while (true) {
      Window next = ends.firstWindow(now());
      boolean inside = next != null && next.start() <= now();
      long to = inside ? next.end() + MILLI : next == null ? until : Math.min(until, next.start());
      long left = to - now();
      if (left <= 0 && !inside && to == until) {
        return;
      }
      // what ends inside a window is judged after it
      long step = inside || model.waiters.isEmpty() ? left : Math.min(left, LOOK_NANOS);
      Thread.sleep(Math.max(0, step) / MILLI + 1);
      update();
    }
  }

  /** Lets time pass until a call can be made. */
  private void quiesce() throws InterruptedException {
    for (Window next = ends.firstWindow(now());
        next != null && next.start() < now() + STEP_NANOS;
        next = ends.firstWindow(now())) {
      pass(Math.max(0, next.end() - now()) + MILLI);
      settle();
    }
  }

  /** Waits until nothing more has to happen. */
  private void settle() throws InterruptedException {
    long began = now();
    pass(WATCH_NANOS);
    while (true) {
      long now = now();
      Waiter late =
          model.waiters.stream().filter(w -> rules.hasToEnd(w, now)).findFirst().orElse(null);
      if (late == null) {
        return;
      }
      if (now - began > LATENESS_NANOS) {
        throw failure(
            "%s waits on in %s, but the lock is free, or the wait is over"
                .formatted(late.actor, late.call),
            null);
      }
      pass(WATCH_NANOS);
    }
  }

  // ---- outcomes

  private Outcome ask(Actor actor, Callable<Object> call) throws InterruptedException {
    answers.remove(actor);
    actor.begin(call);
    long began = now();
    while (!answers.containsKey(actor)) {
      if (now() - began > STEP_NANOS) {
        throw failure("the call of %s does not end".formatted(actor), null);
      }
      Thread.sleep(1);
      update();
    }
    return answers.get(actor);
  }

  private void update() {
    ends.expire(now());
    for (Outcome outcome = outcomes.poll(); outcome != null; outcome = outcomes.poll()) {
      Waiter waiter = null;
      for (Waiter each : model.waiters) {
        waiter = each.actor == outcome.actor() ? each : waiter;
      }
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
      throw failure("the interrupt status of " + outcome, null);
    }
    List<Leaf> before =
        waiter.call.target().leaves.stream()
            .filter(leaf -> model.held(waiter.actor, leaf) != null)
            .toList();
    model.ended(waiter, outcome.atNanos());
    if (verdict == Verdict.DONE) {
      Grant grant = (Grant) outcome.value();
      model.acquired(waiter, grant, waiter.earliestGrant(outcome.atNanos()), outcome.atNanos());
      for (Leaf leaf : waiter.call.target().leaves) {
        if (waiter.call.op().isHandle() || !before.contains(leaf)) {
          tokens.acquired(leaf, grant.lease().fencingToken());
        }
      }
    }
    for (Hold hold : model.holds) {
      if (hold.actor == waiter.actor && hold.isLive() && !model.isTouched(hold)) {
        hold.observe(now());
      }
    }
    if (verdict != Verdict.DONE || waiter.call.op().isUnbounded()) {
      log.append(
          "       %s: %s after %d ms%n"
              .formatted(waiter.actor, verdict, (outcome.atNanos() - began) / MILLI));
    }
  }

  private Verdict expect(Set<Verdict> expected, Outcome outcome) {
    Verdict verdict = Verdict.of(outcome);
    if (!expected.contains(verdict)) {
      throw failure("%s, not %s: %s".formatted(verdict, expected, outcome), outcome.thrown());
    }
    return verdict;
  }

  private AssertionError failure(String problem, Throwable cause) {
    return new AssertionError(problem, cause);
  }

  // ---- checks

  private void check() throws InterruptedException {
    long now = now();
    for (Hold hold : model.holds) {
      if (hold.isLive() && !model.isTouched(hold)) {
        hold.observe(now());
      } else if (hold.lost && hold.lease.state() != Lease.State.LOST) {
        throw failure(hold + " is not lost: " + hold.lease, null);
      }
    }
    for (Leaf leaf : Leaf.values()) {
      if (!model.isDisturbed(leaf.key, now)) {
        Object exists = redis.command("EXISTS", leaf.key);
        if (!exists.equals(model.isBusy(leaf.key) ? 1L : 0L)) {
          throw failure(
              "%s: EXISTS is %s: %s"
                  .formatted(leaf.key, exists, redis.command("HGETALL", leaf.key)),
              null);
        }
      }
    }
    for (Actor actor : actors) {
      if (model.waiters.stream().noneMatch(waiter -> waiter.actor == actor)) {
        checkCounts(actor);
      }
    }
  }

  private void checkCounts(Actor actor) throws InterruptedException {
    Outcome outcome =
        ask(
            actor,
            () -> {
              List<Integer> counts = new ArrayList<>();
              for (Target target : Target.values()) {
                counts.add(actor.locks.get(target).holdCount());
              }
              return counts;
            });
    List<Integer> expected = new ArrayList<>();
    for (Target target : Target.values()) {
      expected.add(model.holdCount(actor, target));
    }
    if (!expected.equals(outcome.value())) {
      throw failure(
          "%s has hold counts %s, not %s".formatted(actor, outcome, expected), outcome.thrown());
    }
  }

  /** Releases everything, after which nothing may be left. */
  private void end() throws InterruptedException {
    note("everything is released");
    int rounds = 0;
    while (!model.waiters.isEmpty() || !model.holds.isEmpty()) {
      boolean released = false;
      for (Actor actor : actors) {
        quiesce();
        if (model.waiters.stream().noneMatch(waiter -> waiter.actor == actor)) {
          List<Target> held = held(actor);
          if (!held.isEmpty()) {
            unlock(actor, held.get(0));
            released = true;
          }
        }
      }
      for (int i = 0; i < model.handles.size(); i++) {
        if (model.handles.get(i).depth > 0) {
          quiesce();
          close(actors.get(Call.ACTORS), false, i);
          released = true;
        }
      }
      if (!released && !model.waiters.isEmpty()) {
        quiesce();
        Waiter stuck = model.waiters.get(rounds % model.waiters.size());
        delete(leafOf(stuck.call.target(), rounds / model.waiters.size()).leaves.get(0));
      }
      if (++rounds > 100) {
        throw failure("does not end: " + model.holds, null);
      }
      check();
    }
    pass(Duration.ofMinutes(16).toNanos());
    List<?> keys = (List<?>) redis.command("KEYS", "*");
    List<Object> left = new ArrayList<>();
    for (Object key : keys) {
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
      throw failure("left over: " + left, null);
    }
  }
}
