package io.mortise.core.internal.handoff;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.core.LockTuning;
import io.mortise.core.internal.lease.LockId;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The holds of this client that several threads may share: one hold in Redis for all of them. For
 * each lock at most one hold can still be joined; earlier ones last until the last of their users
 * has left.
 *
 * <p><b>Threads.</b> Any thread may call any method. The map orders them; whether a hold can be
 * joined is decided under the monitor of the {@link SharedHold}.
 */
public final class SharedHolds {
  private final Ticker ticker;
  private final ClosingState closing;
  private final LockTuning tuning;
  private final Map<LockId, SharedHold> joinable = new ConcurrentHashMap<>();

  public SharedHolds(Ticker ticker, ClosingState closing, LockTuning tuning) {
    this.ticker = ticker;
    this.closing = closing;
    this.tuning = tuning;
  }

  /**
   * Returns whether a hold with these terms may be shared. One with a minimum is not: if its caller
   * does not receive it, the minimum is waived, and that may not concern others.
   */
  boolean mayShare(LockProtocol protocol, LeaseTerms terms) {
    return terms.renewed()
        && terms.minimumMillis() == 0
        && protocol.allowsSharing()
        && tuning.maxHandOffs() > 0
        && !tuning.maxHandOffTime().isZero();
  }

  /** Joins the hold of another thread; returns null when there is none that can be joined. */
  @Nullable SharedLease join(
      LockId id, LeaseSource source, LeaseTerms terms, @Nullable Thread owner) {
    SharedHold shared = joinable.get(id);
    return shared == null ? null : shared.join(source, terms, owner);
  }

  /** Begins to share a hold that was just acquired; nobody can join it yet. */
  SharedHold begin(LockId id, RedisLease base) {
    SharedHold shared =
        new SharedHold(ticker, closing, tuning, base, closed -> joinable.remove(id, closed));
    base.setShared(shared::areUsersDead);
    return shared;
  }

  /**
   * Makes a hold joinable, in place of the one before. Its users may have left already, because it
   * was lost: then nobody else would remove it, so this method looks for that after it has put the
   * hold there.
   */
  void makeJoinable(LockId id, SharedHold shared) {
    joinable.put(id, shared);
    if (shared.isClosed()) {
      joinable.remove(id, shared);
    }
  }
}
