package io.mortise.core.internal;

import io.mortise.core.LeaseLostException;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.LockProtocol.Caller;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Which thread holds which lock, how often: the only place where threads are owners. Re-entry is
 * counted here and costs no round trip.
 *
 * <p><b>Threads.</b> An entry is read and written by its own thread alone, except that the
 * scheduler removes those of dead threads. Its levels need no lock therefore; the map orders the
 * rest.
 */
final class Ownership {
  private static final int REMEMBERED = 256;

  private record Key(Thread thread, String lock) {}

  /** One level of re-entry, and those below. */
  private record Level(boolean anyRenewed, int depth, @Nullable Level below) {}

  private static final class Hold {
    final LeaseHandle lease;
    @Nullable Level top;

    Hold(LeaseHandle lease, boolean renewed) {
      this.lease = lease;
      this.top = new Level(renewed, 1, null);
    }

    int depth() {
      return top == null ? 0 : top.depth();
    }
  }

  /** A release that is over: it lets an unlock too many say so. */
  private record Released(long thread, String lock) {}

  private final Engine engine;
  private final ConcurrentHashMap<Key, Hold> holds = new ConcurrentHashMap<>();

  /** The last releases, by hash, newer ones over older ones: enough to explain, and bounded. */
  private final AtomicReferenceArray<@Nullable Released> released =
      new AtomicReferenceArray<>(REMEMBERED);

  Ownership(Engine engine) {
    this.engine = engine;
  }

  /** Makes the current thread hold the lock once more; false when somebody else held it. */
  boolean lock(LockProtocol protocol, String lock, Terms terms) throws InterruptedException {
    Key key = new Key(Thread.currentThread(), lock);
    Hold hold = holds.get(key);
    if (hold != null) {
      reenter(hold, protocol, terms);
      return true;
    }
    Caller caller = caller(protocol);
    if (isObstructed(protocol, caller, terms.waitNanos() == Terms.FOREVER)) {
      return false;
    }
    LeaseHandle lease =
        Acquisition.acquire(engine, protocol.forCaller(caller), terms, Thread.currentThread());
    if (lease == null) {
      return false;
    }
    holds.put(key, new Hold(lease, terms.renewed()));
    return true;
  }

  /** The current thread, as a protocol sees it. */
  Caller caller(LockProtocol protocol) {
    Thread thread = Thread.currentThread();
    return kind -> {
      Hold hold = holds.get(new Key(thread, engine.idOf(kind, protocol.name())));
      return hold != null && hold.lease.isValid()
          ? Optional.of(hold.lease.holder())
          : Optional.empty();
    };
  }

  /**
   * Whether the current thread would wait for itself.
   *
   * @throws IllegalStateException if it would, and it {@code waits}
   */
  static boolean isObstructed(LockProtocol protocol, Caller caller, boolean waits) {
    Optional<String> obstacle = protocol.obstacle(caller);
    if (waits && obstacle.isPresent()) {
      throw new IllegalStateException(
          "lock '%s': thread '%s' would wait for itself: %s"
              .formatted(protocol.name(), Thread.currentThread().getName(), obstacle.get()));
    }
    return obstacle.isPresent();
  }

  private static void reenter(Hold hold, LockProtocol protocol, Terms terms)
      throws InterruptedException {
    if (terms.interruptible() && Thread.interrupted()) {
      throw new InterruptedException("interrupted before re-entering '" + protocol.name() + "'");
    }
    Level top = hold.top;
    int depth = hold.depth();
    if (depth == Integer.MAX_VALUE) {
      throw new IllegalStateException("lock '" + protocol.name() + "': held too often");
    }
    try {
      hold.lease.renewal().need(terms);
      hold.lease.ensureValid();
    } catch (Fault fault) {
      throw fault.forCaller(protocol.name(), "held, but could not be lengthened for the re-entry");
    }
    boolean before = top != null && top.anyRenewed();
    hold.top = new Level(before || terms.renewed(), depth + 1, top);
  }

  /** Gives up one level of the current thread; the last one releases. */
  void unlock(LockProtocol protocol, String lock) {
    Key key = new Key(Thread.currentThread(), lock);
    Hold hold = holds.get(key);
    Level top = hold == null ? null : hold.top;
    if (hold == null || top == null) {
      throw notHeld(protocol, key);
    }
    Level below = top.below();
    hold.top = below;
    if (below != null) {
      hold.lease.renewal().renewWhile(below.anyRenewed());
      hold.lease.throwIfLost();
      return;
    }
    holds.remove(key);
    released.set(slot(key), new Released(key.thread().getId(), lock));
    release(protocol, hold.lease);
  }

  private void release(LockProtocol protocol, LeaseHandle lease) {
    try {
      if (!lease.release()) {
        engine.scheduler().remove(lease.renewal());
        lease.throwIfLost();
      }
    } catch (Fault fault) {
      throw engine
          .releases()
          .unconfirmed(protocol.name(), fault, lease.renewal().endInRedisNanos());
    }
  }

  private IllegalMonitorStateException notHeld(LockProtocol protocol, Key key) {
    Released last = released.get(slot(key));
    boolean before = last != null && last.equals(new Released(key.thread().getId(), key.lock()));
    return new IllegalMonitorStateException(
        "lock '%s': thread '%s' %s"
            .formatted(
                protocol.name(),
                key.thread().getName(),
                before
                    ? "does not hold it: it has released it already"
                    : "does not hold it: it has never locked it"));
  }

  private static int slot(Key key) {
    return Math.floorMod(key.hashCode(), REMEMBERED);
  }

  /**
   * The current thread's hold.
   *
   * @throws LeaseLostException never: a lost hold is given too, and says so itself
   */
  LeaseHandle lease(LockProtocol protocol, String lock) {
    Key key = new Key(Thread.currentThread(), lock);
    Hold hold = holds.get(key);
    if (hold == null) {
      throw notHeld(protocol, key);
    }
    return hold.lease;
  }

  /** How often the current thread holds the lock; 0 when its lease was lost. */
  int holdCount(String lock) {
    Hold hold = holds.get(new Key(Thread.currentThread(), lock));
    return hold != null && hold.lease.isValid() ? hold.depth() : 0;
  }

  /** Drops what a dead thread left. */
  void forget(LeaseHandle lease) {
    Thread owner = lease.owner();
    if (owner != null) {
      holds.computeIfPresent(
          new Key(owner, engine.idOf(lease.protocol())),
          (key, hold) -> hold.lease == lease ? null : hold);
    }
  }

  int size() {
    return holds.size();
  }
}
