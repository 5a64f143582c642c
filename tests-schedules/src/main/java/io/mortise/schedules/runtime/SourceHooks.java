package io.mortise.schedules.runtime;

import java.time.Instant;
import java.time.InstantSource;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The time, the identities and the random numbers of rewritten code: those of the schedule, so that
 * a seed gives the same execution again.
 *
 * <p><b>Threads.</b> Any thread may call every method.
 */
public final class SourceHooks {
  private SourceHooks() {}

  public static long nanoTime() {
    ControlledThread me = Hooks.running();
    return me == null ? System.nanoTime() : me.schedule.nanoTime();
  }

  public static long currentTimeMillis() {
    ControlledThread me = Hooks.running();
    return me == null ? System.currentTimeMillis() : me.schedule.currentTimeMillis();
  }

  public static Instant instant() {
    ControlledThread me = Hooks.running();
    return me == null ? Instant.now() : me.schedule.instant();
  }

  /** Returns a source that a static field may keep: each reading asks for the thread. */
  public static InstantSource instantSource() {
    return SourceHooks::instant;
  }

  public static int identityHashCode(Object object) {
    ControlledThread me = Hooks.running();
    return me == null ? System.identityHashCode(object) : me.schedule.numberOf(object);
  }

  public static UUID randomUuid() {
    ControlledThread me = Hooks.running();
    return me == null
        ? UUID.randomUUID()
        : new UUID(me.schedule.random().nextLong(), me.schedule.random().nextLong());
  }

  public static double random() {
    ControlledThread me = Hooks.running();
    return me == null ? Math.random() : me.schedule.random().nextDouble();
  }

  public static double nextDouble(ThreadLocalRandom random) {
    ControlledThread me = Hooks.running();
    return me == null ? random.nextDouble() : me.schedule.random().nextDouble();
  }

  public static int nextInt(ThreadLocalRandom random, int bound) {
    ControlledThread me = Hooks.running();
    return me == null ? random.nextInt(bound) : me.schedule.random().nextInt(bound);
  }

  public static long nextLong(ThreadLocalRandom random, long bound) {
    ControlledThread me = Hooks.running();
    return me == null
        ? random.nextLong(bound)
        : Math.floorMod(me.schedule.random().nextLong(), bound);
  }
}
