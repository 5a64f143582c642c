package io.mortise.core.internal;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.core.LockException;
import io.mortise.core.spi.Terms;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One hold in Redis and those who share it. Others may join for a bounded time and number, so that
 * whoever waits elsewhere has his turn; the last one to leave releases it, unless threads of this
 * client stand in the line, which join it next.
 *
 * <p><b>Threads.</b> {@code lock} guards the users. Whoever ends it has made it {@code over} under
 * the lock, so nobody joins what is about to be released. Nothing is sent under it. <b>Nothing is
 * left behind</b> when the last user leaves it to the line: whoever leaves the line looks at it
 * <em>after</em> that ({@link #endIfIdle}), and the user looks at the line under the lock; one of
 * the two sees that the other has gone. Who stands in the line and finds it too late to join takes
 * a new hold, and then ends this one.
 */
final class Share implements Renewal.Owners {
  private final Engine engine;
  private final LeaseHandle base;
  private final String id;
  private final long sinceNanos;
  private final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  private final Set<SharedHold> users = new HashSet<>();

  @GuardedBy("lock")
  private int joins;

  /** Whether there is another one to join now, so that nobody comes to this one any more. */
  @GuardedBy("lock")
  private boolean replaced;

  @GuardedBy("lock")
  private boolean over;

  /**
   * @param id the lock's kind and name
   */
  Share(Engine engine, String id, LeaseHandle base) {
    this.engine = engine;
    this.base = base;
    this.id = id;
    this.sinceNanos = engine.nanos();
  }

  SharedHold begin(EngineSource source, @Nullable Thread owner) {
    lock.lock();
    try {
      return add(source, owner);
    } finally {
      lock.unlock();
    }
  }

  /** Null when nobody may join any more, or the hold is not what these terms ask for. */
  @Nullable SharedHold join(EngineSource source, Terms terms, @Nullable Thread owner) {
    lock.lock();
    try {
      if (over || isLate() || engine.isClosed() || !base.isSettled() || !base.covers(terms)) {
        return null;
      }
      joins++;
      return add(source, owner);
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private boolean isLate() {
    return replaced
        || joins >= engine.options().handOvers()
        || engine.nanos() - sinceNanos >= engine.options().handOverTime().toNanos();
  }

  @GuardedBy("lock")
  private SharedHold add(EngineSource source, @Nullable Thread owner) {
    SharedHold hold = new SharedHold(source, base, this, owner);
    users.add(hold);
    return hold;
  }

  /**
   * Whether somebody who leaves has to ask whether the hold is still there: others stay, so that it
   * is not released, and it was not heard of for as long as a hold may pass on unheard of.
   */
  boolean mayBeLost(SharedHold leaving) {
    long unheardNanos = engine.nanos() - base.renewal().confirmedNanos();
    if (unheardNanos < engine.options().handOverTime().toNanos()) {
      return false;
    }
    lock.lock();
    try {
      return users.contains(leaving) && users.size() > 1;
    } finally {
      lock.unlock();
    }
  }

  /** One user less; whether it was the last one, which has to release the hold. */
  boolean leave(SharedHold hold) {
    lock.lock();
    try {
      boolean last = users.remove(hold) && users.isEmpty() && !over;
      if (!last || (!isLate() && base.isSettled() && engine.gates().isUsed(id))) {
        return false;
      }
      over = true;
    } finally {
      lock.unlock();
    }
    engine.shares().ended(id, this);
    return true;
  }

  /**
   * Releases the hold if it has no users, and none are to come.
   *
   * @param byAnother whether those in the line have another one to join from now on
   */
  void endIfIdle(boolean byAnother) {
    lock.lock();
    try {
      replaced |= byAnother;
      if (over || !users.isEmpty() || !(isLate() || !engine.gates().isUsed(id))) {
        return;
      }
      over = true;
    } finally {
      lock.unlock();
    }
    engine.shares().ended(id, this);
    try {
      base.release();
    } catch (LockException | IllegalMonitorStateException e) {
      Engine.LOG.debug("lock '{}': a shared hold ended otherwise", base.lockName(), e);
    }
  }

  /** Whether all users are threads that have died without unlocking. */
  @Override
  public boolean areGone() {
    lock.lock();
    try {
      return !users.isEmpty() && users.stream().allMatch(SharedHold::isOrphaned);
    } finally {
      lock.unlock();
    }
  }
}
