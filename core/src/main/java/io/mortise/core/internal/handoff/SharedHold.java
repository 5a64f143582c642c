package io.mortise.core.internal.handoff;

import com.google.common.base.Ticker;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.core.LockTuning;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One hold in Redis, with the users who share it. Joining is limited in time and number, so that
 * waiters of other clients get the lock. The last user to leave always releases the hold: it never
 * waits for a thread that is expected to join, because that thread may come too late or not at all.
 *
 * <p><b>Threads.</b> Any thread may call any method. The monitor guards the users. The last user
 * sets {@code closed} under it before it releases the hold, so no thread joins a hold that is about
 * to be released. Nothing that may wait, or run code of others, is called under it.
 */
final class SharedHold implements SharedLease.Users {
  private final Ticker ticker;
  private final ClosingState closing;
  private final LockTuning tuning;
  private final RedisLease base;
  private final Consumer<SharedHold> onClosed;
  private final long sinceNanos;

  @GuardedBy("this")
  private final Set<SharedLease> users = new HashSet<>();

  @GuardedBy("this")
  private int joins;

  @GuardedBy("this")
  private boolean closed;

  /** The last user, which has to release the hold; null before it has left. */
  @GuardedBy("this")
  private @Nullable SharedLease last;

  /**
   * @param onClosed called when no thread can join the hold any more
   */
  SharedHold(
      Ticker ticker,
      ClosingState closing,
      LockTuning tuning,
      RedisLease base,
      Consumer<SharedHold> onClosed) {
    this.ticker = ticker;
    this.closing = closing;
    this.tuning = tuning;
    this.base = base;
    this.onClosed = onClosed;
    this.sinceNanos = ticker.read();
  }

  /** Adds the first user. */
  synchronized SharedLease begin(LeaseSource source, @Nullable Thread owner) {
    return add(source, owner, base.sinceNanos(), false);
  }

  /**
   * Adds a user; returns null when joining has ended, or the hold does not match these terms.
   *
   * <p>A hold whose time is over is lost by the question whether it is settled, and that may start
   * a worker, or run what is a worker's. So it is asked before the monitor is entered, and the
   * caller looks once more whether the hold is settled after it has joined.
   */
  @Nullable SharedLease join(LeaseSource source, LeaseTerms terms, @Nullable Thread owner) {
    if (!base.isSettled() || !base.covers(terms)) {
      return null;
    }
    synchronized (this) {
      if (closed || isExhausted() || closing.isClosed()) {
        return null;
      }
      joins++;
      return add(source, owner, ticker.read(), true);
    }
  }

  @GuardedBy("this")
  private boolean isExhausted() {
    return joins >= tuning.maxHandOffs()
        || ticker.read() - sinceNanos >= tuning.maxHandOffTime().toNanos();
  }

  @GuardedBy("this")
  private SharedLease add(
      LeaseSource source, @Nullable Thread owner, long sinceNanos, boolean joined) {
    SharedLease lease = new SharedLease(source, base, this, owner, sinceNanos, joined);
    try {
      users.add(lease);
      return lease;
    } catch (Throwable e) {
      users.remove(lease); // a set that cannot grow may have it all the same
      throw e;
    }
  }

  @Override
  public boolean needsVerification(SharedLease leaving) {
    long unconfirmedNanos = ticker.read() - base.confirmedNanos();
    if (unconfirmedNanos < tuning.maxHandOffTime().toNanos()) {
      return false;
    }
    synchronized (this) {
      return users.contains(leaving) && users.size() > 1;
    }
  }

  @Override
  public boolean leave(SharedLease lease) {
    synchronized (this) {
      if (closed) {
        return lease == last; // again, after an error
      }
      if (!users.remove(lease) || !users.isEmpty()) {
        return false;
      }
      last = lease;
      closed = true;
    }
    onClosed.accept(this);
    return true;
  }

  /** Returns whether no thread can join the hold any more, because its last user has left. */
  synchronized boolean isClosed() {
    return closed;
  }

  /**
   * Returns whether the hold has no users, or all users are threads that have died without
   * unlocking.
   */
  synchronized boolean areUsersDead() {
    return closed || (!users.isEmpty() && users.stream().allMatch(SharedLease::isOrphaned));
  }
}
