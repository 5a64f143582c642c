package io.mortise.schedules.model;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * One call of a sequence, or an event between two calls.
 *
 * @param pick chooses among what exists when the call is made: a hold, a handle, a waiter
 * @param lease the lease that the call gives; null for the client's own, which is renewed
 * @param minimum for how long the lock stays busy; zero for no minimum
 * @param time how long the call waits, or how much time passes
 */
record Call(
    int actor, Op op, Target target, int pick, Duration lease, Duration minimum, Duration time) {
  static final int ACTORS = 4;
  private static final List<Duration> LEASES = seconds(4, 12, 29, 90);
  private static final List<Duration> MINIMA = seconds(3, 20);
  private static final List<Duration> PAUSES = seconds(1, 6, 12, 40);
  private static final List<Duration> WAITS =
      List.of(Duration.ZERO, Duration.ofMillis(200), Duration.ofSeconds(5), Duration.ofSeconds(25));

  /** What a call does, and how often it occurs. */
  enum Op {
    LOCK(8),
    LOCK_INTERRUPTIBLY(3),
    TRY_LOCK(6),
    TRY_LOCK_FOR(5),
    ACQUIRE(2),
    TRY_ACQUIRE(4),
    ACQUIRE_FOR(3),
    UNLOCK(1),
    UNLOCK_HELD(16),
    CLOSE(7),
    INTERRUPT(2),
    FORCE(1),
    DELETE(1),
    FOREIGN(1),

    /** At most once in a sequence, so that the other client goes on. */
    CLOSE_CLIENT(0),
    PASS_TIME(6);

    private final int weight;

    Op(int weight) {
      this.weight = weight;
    }

    boolean acquires() {
      return compareTo(ACQUIRE_FOR) <= 0;
    }

    boolean isHandle() {
      return this == ACQUIRE || this == TRY_ACQUIRE || this == ACQUIRE_FOR;
    }

    boolean isInterruptible() {
      return this != LOCK && this != TRY_LOCK && this != TRY_ACQUIRE;
    }

    boolean isUnbounded() {
      return this == LOCK || this == LOCK_INTERRUPTIBLY || this == ACQUIRE;
    }
  }

  private static List<Duration> seconds(int... seconds) {
    List<Duration> durations = new ArrayList<>();
    for (int each : seconds) {
      durations.add(Duration.ofSeconds(each));
    }
    return durations;
  }

  /** Returns a random sequence, most of which is about a few of the locks. */
  static List<Call> sequence(Random random, int length) {
    List<Target> targets = new ArrayList<>();
    int count = 2 + random.nextInt(4);
    for (int i = 0; i < count; i++) {
      targets.add(oneOf(random, List.of(Target.values())));
    }
    int actors = 1 + random.nextInt(ACTORS);
    List<Call> calls = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      calls.add(random(random, oneOf(random, targets), actors));
    }
    if (random.nextInt(4) == 0) {
      int at = random.nextInt(length);
      calls.set(at, calls.get(at).with(Op.CLOSE_CLIENT));
    }
    return calls;
  }

  private Call with(Op another) {
    return new Call(actor, another, target, pick, lease, minimum, time);
  }

  private static Call random(Random random, Target target, int actors) {
    Op op = weighted(random);
    Target named =
        target.isMulti() && random.nextInt(3) == 0
            ? Target.of(oneOf(random, target.leaves))
            : target;
    Duration lease = random.nextInt(2) == 0 ? oneOf(random, LEASES) : null;
    Duration minimum = random.nextInt(8) == 0 ? oneOf(random, MINIMA) : Duration.ZERO;
    if (lease != null && minimum.compareTo(lease) > 0) {
      minimum = lease;
    }
    Duration time = oneOf(random, op.acquires() ? WAITS : PAUSES);
    if (target.isAny() && op.acquires()) { // what SegmentedLock offers
      op = lease == null && random.nextInt(3) == 0 ? Op.TRY_ACQUIRE : Op.ACQUIRE_FOR;
      minimum = Duration.ZERO;
    }
    return new Call(random.nextInt(actors), op, named, random.nextInt(1_000), lease, minimum, time);
  }

  private static Op weighted(Random random) {
    int all = 0;
    for (Op op : Op.values()) {
      all += op.weight;
    }
    int at = random.nextInt(all);
    for (Op op : Op.values()) {
      at -= op.weight;
      if (at < 0) {
        return op;
      }
    }
    throw new AssertionError("weights");
  }

  private static <T> T oneOf(Random random, List<T> choices) {
    return choices.get(random.nextInt(choices.size()));
  }

  @Override
  public String toString() {
    String lock =
        target
            + (lease == null ? "" : ".withLease(%d s)".formatted(lease.toSeconds()))
            + (minimum.isZero() ? "" : ".atLeast(%d s)".formatted(minimum.toSeconds()));
    return switch (op) {
      case LOCK -> lock + ".lock()";
      case LOCK_INTERRUPTIBLY -> lock + ".lockInterruptibly()";
      case TRY_LOCK -> lock + ".tryLock()";
      case TRY_LOCK_FOR -> lock + ".tryLock(%d ms)".formatted(time.toMillis());
      case ACQUIRE -> lock + ".acquire()";
      case TRY_ACQUIRE -> lock + ".tryAcquire()";
      case ACQUIRE_FOR -> lock + ".acquire(%d ms)".formatted(time.toMillis());
      case UNLOCK -> target + ".unlock()";
      case FORCE -> target + ".forceUnlock()";
      case DELETE -> "DEL " + target.leaves.get(0).key;
      case FOREIGN ->
          "%s is held by Redisson for %d s".formatted(target.leaves.get(0).key, time.toSeconds());
      case PASS_TIME -> "%d s pass".formatted(time.toSeconds());
      case UNLOCK_HELD, CLOSE, CLOSE_CLIENT, INTERRUPT -> op.name();
    };
  }
}
