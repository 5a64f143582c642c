package io.mortise.core.internal.handoff;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.LeaseRenewal;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One hold in Redis and those who share it. Others may join for a bounded time and number, so that
 * whoever waits elsewhere has a turn. The last user to leave releases the hold, always: it is never
 * left to a thread that is expected to join, because that thread may come too late or not at all.
 *
 * <p><b>Threads.</b> {@code lock} guards the users. The last user makes the share {@code over}
 * under the lock before it releases the hold, so nobody joins what is about to be released. Nothing
 * is sent under the lock.
 */
final class SharedHold implements LeaseRenewal.Owners {
  private final LeaseContext context;
  private final SharedHolds shares;
  private final RedisLease base;
  private final String id;
  private final long sinceNanos;
  private final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  private final Set<SharedLease> users = new HashSet<>();

  @GuardedBy("lock")
  private int joins;

  @GuardedBy("lock")
  private boolean over;

  /**
   * @param id the lock's kind and name
   */
  SharedHold(SharedHolds shares, String id, RedisLease base) {
    this.shares = shares;
    this.context = base.context();
    this.base = base;
    this.id = id;
    this.sinceNanos = context.nanos();
  }

  SharedLease begin(LeaseSource source, @Nullable Thread owner) {
    lock.lock();
    try {
      return add(source, owner);
    } finally {
      lock.unlock();
    }
  }

  /** Null when nobody may join any more, or the hold is not what these terms ask for. */
  @Nullable SharedLease join(LeaseSource source, LeaseTerms terms, @Nullable Thread owner) {
    lock.lock();
    try {
      if (over || isLate() || context.isClosed() || !base.isSettled() || !base.covers(terms)) {
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
    return joins >= context.options().maxHandOffs()
        || context.nanos() - sinceNanos >= context.options().maxHandOffTime().toNanos();
  }

  @GuardedBy("lock")
  private SharedLease add(LeaseSource source, @Nullable Thread owner) {
    SharedLease hold = new SharedLease(source, base, this, owner);
    users.add(hold);
    return hold;
  }

  /**
   * Whether somebody who leaves has to ask whether the hold is still there: others stay, so that it
   * is not released, and it was not heard of for as long as a hold may pass on unheard of.
   */
  boolean mayBeLost(SharedLease leaving) {
    long unheardNanos = context.nanos() - base.renewal().confirmedNanos();
    if (unheardNanos < context.options().maxHandOffTime().toNanos()) {
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
  boolean leave(SharedLease hold) {
    lock.lock();
    try {
      if (!users.remove(hold) || !users.isEmpty() || over) {
        return false;
      }
      over = true;
    } finally {
      lock.unlock();
    }
    shares.ended(id, this);
    return true;
  }

  /** Whether nobody uses it, or all users are threads that have died without unlocking. */
  @Override
  public boolean areDead() {
    lock.lock();
    try {
      return over || (!users.isEmpty() && users.stream().allMatch(SharedLease::isOrphaned));
    } finally {
      lock.unlock();
    }
  }
}
