package io.mortise.connection.concurrent;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of a scheduler, grouped by their due times: a <a
 * href="https://dl.acm.org/doi/10.1145/41457.37504">hashed timing wheel</a>. What a pass costs
 * depends on the tasks that are due, not on all of them: a slot is read only when the earliest time
 * that was noted for it has come.
 *
 * <p>A slot is a set of tasks, and two noted times: one before which none of them is due, and one
 * before which none may run. The slots follow each other like the minutes on a clock: a task that
 * is due after more than a round is in the same slot as an earlier one, and stays there when the
 * slot is read. A task that has become due later is found when its slot is read, and moved then; a
 * task that has become due earlier has to be placed again at once.
 *
 * <p><b>Threads.</b> Any thread may call {@code add}, {@code move}, {@code remove} and the queries;
 * one thread at a time, that of the scheduler, calls {@code isAnyDue} and {@code forEachRunnable}.
 * The map of the places makes the moves of one task atomic, and each of them reads the times of the
 * task again, so the last move knows the last times. A task that is placed while its slot is read
 * is not missed, because the order is Dekker-style "publish, then look": {@code place} adds the
 * task <i>before</i> it compares its times with the noted ones, and a reading resets the noted
 * times <i>before</i> it reads the tasks. Either the reading sees the task, or its times are noted
 * after the reset. A pass may miss a task that another thread moves meanwhile: that thread then has
 * another pass made.
 *
 * <p><b>Errors</b>, such as one when memory is exhausted. One in a reading makes its slot due at
 * once, and one in a move has the next pass read all slots: the task may be in two slots, or in
 * another one than its place. One in {@code add} may leave the task in a slot without a place: a
 * reading takes it out, and does not run it.
 */
final class TimingWheel {
  /** A slot is 134 ms long. */
  private static final int SLOT_SHIFT = 27;

  /** A round takes 34 s, which is more than the default lease. */
  static final int DEFAULT_SLOTS = 256;

  /** The tasks of one slot, and times that are not after theirs. */
  private static final class Slot {
    final Set<ScheduledTask> tasks;
    final AtomicLong dueNanos;
    final AtomicLong mayRunAtNanos;

    Slot(Set<ScheduledTask> tasks, long nanos) {
      this.tasks = tasks;
      dueNanos = new AtomicLong(nanos);
      mayRunAtNanos = new AtomicLong(nanos);
    }

    void note(long due, long mayRunAt) {
      lower(dueNanos, due);
      lower(mayRunAtNanos, mayRunAt - due < 0 ? mayRunAt : due);
    }

    private static void lower(AtomicLong noted, long nanos) {
      if (nanos - noted.get() < 0) {
        noted.accumulateAndGet(nanos, (one, other) -> one - other <= 0 ? one : other);
      }
    }

    void reset(long nanos) {
      dueNanos.set(nanos);
      mayRunAtNanos.set(nanos);
    }
  }

  /** The time after which each slot is read again, whatever was noted. */
  private final long longestNanos;

  /** The slots, all from the beginning: what a client uses does not grow in its first round. */
  private final Slot[] slots;

  private final ConcurrentMap<ScheduledTask, Slot> places = new ConcurrentHashMap<>();

  /** Made once: to remove a task needs no memory. */
  private final BiFunction<ScheduledTask, @Nullable Slot, Slot> placing = this::place;

  private final BiFunction<ScheduledTask, Slot, @Nullable Slot> removing = TimingWheel::takeOut;

  /** Whether an error has kept a task from being moved. */
  private volatile boolean readsAll;

  /**
   * @param longestNanos the time after which each slot is read again
   * @param nowNanos the present time of the ticker
   * @param slotCount a power of two
   */
  TimingWheel(long longestNanos, long nowNanos, int slotCount) {
    this(longestNanos, nowNanos, slotCount, ConcurrentHashMap::newKeySet);
  }

  /**
   * @param sets makes the concurrent set of the tasks of each slot
   */
  TimingWheel(long longestNanos, long nowNanos, int slotCount, Supplier<Set<ScheduledTask>> sets) {
    this.longestNanos = longestNanos;
    this.slots = new Slot[slotCount];
    for (int i = 0; i < slotCount; i++) {
      slots[i] = new Slot(sets.get(), nowNanos + Long.MAX_VALUE / 2);
    }
  }

  /** Adds a task, or moves one that is there. */
  void add(ScheduledTask task) {
    places.compute(task, placing);
  }

  /**
   * Moves a task whose times have changed; without effect for one that is not there. After an error
   * the next pass reads all slots.
   */
  void move(ScheduledTask task) {
    try {
      places.computeIfPresent(task, placing);
    } catch (Throwable e) {
      readsAll = true;
      throw e;
    }
  }

  private Slot place(ScheduledTask task, @Nullable Slot before) {
    long due = task.dueNanos();
    Slot slot = slotAt(due);
    slot.tasks.add(task);
    slot.note(due, task.mayRunAtNanos());
    if (before != null && slot != before) {
      before.tasks.remove(task);
    }
    return slot;
  }

  private Slot slotAt(long nanos) {
    return slots[(int) (nanos >> SLOT_SHIFT) & (slots.length - 1)];
  }

  /** Removes a task. After an error it may be left in a slot, as after one in {@code add}. */
  void remove(ScheduledTask task) {
    try {
      places.computeIfPresent(task, removing);
    } catch (Throwable e) {
      places.remove(task);
      throw e;
    }
  }

  private static @Nullable Slot takeOut(ScheduledTask task, Slot slot) {
    slot.tasks.remove(task);
    return null;
  }

  void clear() {
    places.keySet().forEach(this::remove);
  }

  int size() {
    return places.size();
  }

  /** Returns the tasks; a view. */
  Set<ScheduledTask> tasks() {
    return places.keySet();
  }

  /** Returns a time before which no task is due, at most that one. */
  long nextNanos(long atMost) {
    long next = atMost;
    for (Slot slot : slots) {
      if (slot.dueNanos.get() - next < 0 && !slot.tasks.isEmpty()) {
        next = slot.dueNanos.get();
      }
    }
    return next;
  }

  boolean isAnyDue(long nowNanos) {
    boolean all = readsAll;
    if (all) { // otherwise a request that comes in between would be cleared
      readsAll = false;
    }
    boolean any = false;
    boolean complete = false;
    try {
      for (Slot slot : slots) {
        if (!slot.tasks.isEmpty() && (all || isToBeRead(slot, nowNanos))) {
          any |= read(slot, nowNanos, null);
        }
      }
      complete = true;
      return any;
    } finally {
      if (!complete && all) {
        readsAll = true;
      }
    }
  }

  /** Returns whether the noted time has come, or was never limited. */
  private boolean isToBeRead(Slot slot, long nowNanos) {
    long left = slot.dueNanos.get() - nowNanos;
    return left <= 0 || left > longestNanos;
  }

  /** Runs the action on each task that is due or may run, and places it by its new times. */
  void forEachRunnable(long nowNanos, Consumer<ScheduledTask> action) {
    for (Slot slot : slots) {
      if (slot.mayRunAtNanos.get() - nowNanos <= 0) {
        read(slot, nowNanos, action);
      }
    }
  }

  /**
   * Reads the tasks of a slot, and notes or corrects their times.
   *
   * @param action runs on each task that may run; null for none
   * @return whether a task was due
   */
  private boolean read(Slot slot, long nowNanos, @Nullable Consumer<ScheduledTask> action) {
    boolean any = false;
    slot.reset(nowNanos + longestNanos);
    try {
      for (ScheduledTask task : slot.tasks) {
        if (places.get(task) == slot || belongs(task, slot)) {
          boolean due = task.dueNanos() - nowNanos <= 0;
          any |= due;
          if (action != null && (due || task.mayRunAtNanos() - nowNanos <= 0)) {
            action.accept(task);
          }
          move(task);
        }
      }
      return any;
    } catch (Throwable e) {
      slot.reset(nowNanos);
      throw e;
    }
  }

  /**
   * Returns whether the task is in this slot when no move of it is under way. If not, an error has
   * left it here. One that was never added, or is in its place too, is taken out. One that has left
   * its place already, because the error came after that, has its place here.
   */
  private boolean belongs(ScheduledTask task, Slot slot) {
    Slot place =
        places.compute(
            task,
            (same, current) -> {
              if (current == slot || (current != null && !current.tasks.contains(task))) {
                return slot;
              }
              slot.tasks.remove(task);
              return current;
            });
    return place == slot;
  }
}
