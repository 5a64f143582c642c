package io.mortise.connection.pubsub;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;

/**
 * Decides how long a channel stays that has no waiters.
 *
 * <p>One that waiters share stays for a while, because contention comes in bursts. The own channel
 * of one waiter is spent when that has ended its wait: it stays until there are {@value #MAX_SPENT}
 * of them, or for one to two seconds, so that one command ends many. A command for each would be
 * one more for each wait.
 *
 * <p><b>Threads.</b> The lock of {@link Subscriptions} guards everything.
 */
final class IdleChannels {
  static final int MAX_SPENT = 128;

  /** The least time between two looks. */
  private static final long MIN_PAUSE_NANOS = 50_000_000L;

  private final long keptAliveNanos;
  private final Predicate<WakeupChannel> removable;

  /** The channels to drop; valid until the next look. */
  private List<WakeupChannel> expired = List.of();

  /** The number of spent channels that are still subscribed. */
  private int spent;

  /** Whether the last look found one that cannot be removed: to look at once would be in vain. */
  private boolean delayed;

  /**
   * @param keptAliveNanos how long a channel stays that waiters share
   * @param removable whether a channel can be removed now
   */
  IdleChannels(long keptAliveNanos, Predicate<WakeupChannel> removable) {
    this.keptAliveNanos = keptAliveNanos;
    this.removable = removable;
  }

  /** Notes a channel that has no waiters from now on; returns when to look for expired ones. */
  long begins(WakeupChannel channel, long nowNanos) {
    channel.idleSinceNanos = nowNanos;
    spent += channel.isSpent() ? 1 : 0;
    boolean atOnce = spent >= MAX_SPENT && !delayed;
    return atOnce ? nowNanos : nowNanos + channel.lingerNanos(keptAliveNanos);
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
    boolean inVain = false;
    for (WakeupChannel channel : channels) {
      if (channel.isIdle()) {
        boolean isSpent = channel.isSpent();
        long lingerNanos = channel.lingerNanos(keptAliveNanos);
        long expiryNanos = channel.idleSinceNanos + lingerNanos;
        boolean stays = expiryNanos - nowNanos > 0 && !(many && isSpent);
        if (stays || !removable.test(channel)) {
          // Not one by one, but those together that expire soon after each other.
          long pauseNanos = Math.max(isSpent ? lingerNanos : 0, MIN_PAUSE_NANOS);
          long next = Math.max(expiryNanos, nowNanos + pauseNanos);
          due = next - due < 0 ? next : due;
          inVain |= !stays;
          left += isSpent ? 1 : 0;
        } else {
          found.add(channel);
        }
      }
    }
    expired = found;
    spent = left;
    delayed = inVain;
    return due;
  }

  /** Returns what the last look has found. */
  List<WakeupChannel> expired() {
    return expired;
  }
}
