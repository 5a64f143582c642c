package io.mortise.connection.pubsub;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Decides how long a channel stays that has no waiters.
 *
 * <p>One that waiters share stays for a while, because contention comes in bursts. The own channel
 * of one waiter is spent when that has ended its wait: it stays until there are {@value #MAX_SPENT}
 * of them, or for a second, so that one command ends many. A command for each would be one more for
 * each wait.
 *
 * <p><b>Threads.</b> The lock of {@link Subscriptions} guards everything.
 */
final class IdleChannels {
  static final int MAX_SPENT = 128;

  /** The least time between two looks. */
  private static final long MIN_PAUSE_NANOS = 50_000_000L;

  private final long keptAliveNanos;

  /** The channels to drop; valid until the next look. */
  private List<WakeupChannel> expired = List.of();

  /** The number of spent channels that are still subscribed. */
  private int spent;

  /**
   * @param keptAliveNanos how long a channel stays that waiters share
   */
  IdleChannels(long keptAliveNanos) {
    this.keptAliveNanos = keptAliveNanos;
  }

  /** Notes a channel that has no waiters from now on; returns when to look for expired ones. */
  long begins(WakeupChannel channel, long nowNanos) {
    channel.idleSinceNanos = nowNanos;
    spent += channel.isSpent() ? 1 : 0;
    return spent >= MAX_SPENT ? nowNanos : nowNanos + channel.lingerNanos(keptAliveNanos);
  }

  /**
   * Looks for the channels that are idle for long enough, and that can be removed now.
   *
   * @param latestNanos when to look again at the latest
   * @return when to look again
   */
  long findExpired(Collection<WakeupChannel> channels, long nowNanos, long latestNanos) {
    boolean many = spent >= MAX_SPENT;
    List<WakeupChannel> found = new ArrayList<>();
    long due = latestNanos;
    int left = 0;
    for (WakeupChannel channel : channels) {
      if (channel.isIdle()) {
        boolean isSpent = channel.isSpent();
        long lingerNanos = channel.lingerNanos(keptAliveNanos);
        long expiryNanos = channel.idleSinceNanos + lingerNanos;
        boolean stays = expiryNanos - nowNanos > 0 && !(many && isSpent);
        if (stays || !channel.canBeRemoved()) {
          // Not one by one, but those together that expire soon after each other.
          long next = Math.max(expiryNanos, nowNanos + (isSpent ? lingerNanos : MIN_PAUSE_NANOS));
          due = next - due < 0 ? next : due;
          left += isSpent ? 1 : 0;
        } else {
          found.add(channel);
        }
      }
    }
    expired = found;
    spent = left;
    return due;
  }

  /** Returns what the last look has found. */
  List<WakeupChannel> expired() {
    return expired;
  }
}
