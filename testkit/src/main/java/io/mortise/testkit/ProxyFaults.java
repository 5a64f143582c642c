package io.mortise.testkit;

import io.mortise.testkit.FaultProxy.Direction;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The faults of a {@link FaultProxy}: decides the fate of each piece of bytes, and counts.
 *
 * <p><b>Threads.</b> Any thread may call all methods. Each decision about a piece is made under one
 * lock, so that a fault that has been set, or ended, holds for every later piece.
 */
final class ProxyFaults {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // All guarded by lock.
  private final Map<Direction, Long> delayNanos = new EnumMap<>(Direction.class);
  private final Set<Direction> blackholed = EnumSet.noneOf(Direction.class);
  private final Map<Direction, Long> bytes = new EnumMap<>(Direction.class);
  private boolean cut;
  private boolean holdNew;
  private int repliesToLose;
  private LossStyle lossStyle = LossStyle.CLOSE;
  private Predicate<byte[]> losable = request -> true;
  private long repliesLost;

  void delay(Direction direction, long nanos) {
    change(() -> delayNanos.put(direction, nanos));
  }

  void cut() {
    change(() -> cut = true);
  }

  void blackhole(Direction direction) {
    change(() -> blackholed.add(direction));
  }

  void forget(Collection<ProxyConnection> connections) {
    change(() -> connections.forEach(connection -> connection.forgotten = true));
  }

  void holdNew() {
    change(() -> holdNew = true);
  }

  void loseReplies(int count, LossStyle style, Predicate<byte[]> request) {
    change(
        () -> {
          repliesToLose = count;
          lossStyle = style;
          losable = request;
        });
  }

  /** Ends all faults, and runs {@code rest} before any further decision. */
  void restore(Runnable rest) {
    change(
        () -> {
          delayNanos.clear();
          blackholed.clear();
          cut = false;
          holdNew = false;
          repliesToLose = 0;
          rest.run();
        });
  }

  boolean isCut() {
    return read(() -> cut);
  }

  long repliesLost() {
    return read(() -> repliesLost);
  }

  long bytes(Direction direction) {
    return read(() -> bytes.getOrDefault(direction, 0L));
  }

  /** Waits until a new connection may be served, or is closed. */
  void awaitService(BooleanSupplier closed) {
    await(() -> holdNew ? Long.MAX_VALUE : 0, closed);
  }

  /** Waits for as long as a piece of bytes is to be delayed, or until its connection is closed. */
  void awaitDelay(Direction direction, BooleanSupplier closed) {
    long start = System.nanoTime();
    await(() -> delayNanos.getOrDefault(direction, 0L) - (System.nanoTime() - start), closed);
  }

  /** Wakes the threads that wait on behalf of a connection that has been closed. */
  void connectionClosed() {
    change(() -> {});
  }

  /** Returns whether a piece of bytes passes, and notes the decision in the connection. */
  boolean passes(ProxyConnection connection, Direction direction, byte[] piece) {
    lock.lock();
    try {
      boolean silenced = direction == Direction.TO_CLIENT && connection.losing != null;
      if (silenced && !connection.lostReply) {
        connection.lostReply = true;
        repliesLost++;
      }
      if (connection.forgotten || silenced || blackholed.contains(direction)) {
        connection.lostBytes = true;
        return false;
      }
      if (direction == Direction.TO_SERVER
          && connection.losing == null
          && repliesToLose > 0
          && losable.test(piece)) {
        repliesToLose--;
        connection.losing = lossStyle;
      }
      bytes.merge(direction, (long) piece.length, Long::sum);
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void await(LongSupplier nanosLeft, BooleanSupplier closed) {
    lock.lock();
    try {
      for (long left = nanosLeft.getAsLong();
          left > 0 && !closed.getAsBoolean();
          left = nanosLeft.getAsLong()) {
        changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts the threads of a proxy", e);
    } finally {
      lock.unlock();
    }
  }

  private void change(Runnable change) {
    lock.lock();
    try {
      change.run();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private <T> T read(Supplier<T> value) {
    lock.lock();
    try {
      return value.get();
    } finally {
      lock.unlock();
    }
  }
}
