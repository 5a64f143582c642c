package io.mortise.connection.pubsub;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Holder ids of acquisitions to come, whose own channels are subscribed already. Where each one
 * that waits has a channel of its own, it would have to subscribe it, wait for the confirmation,
 * and ask again, each time; whoever takes one of these asks once, and parks.
 *
 * <p>They are made when somebody waits for a lock for the second time within a short while, several
 * in one command, and dropped when nobody takes them within that while. An id is taken once.
 *
 * <p>Guarded by the lock of {@link Subscriptions}, but for {@link #areNone}.
 */
final class ReservedChannels {
  /** How many are made in one go. */
  static final int AT_ONCE = 8;

  /** With fewer than that, more are made. */
  private static final int FEW = 4;

  static final long LINGER_NANOS = 1_000_000_000L;

  /** By the channel of an empty holder. */
  private final Map<String, Group> groups = new ConcurrentHashMap<>();

  /** Those of one lock. */
  private static final class Group {
    final Deque<Spare> spares = new ArrayDeque<>();
    long askedNanos;
  }

  /** A holder id, and its channel. */
  record Spare(String holder, WakeupChannel channel) {}

  /** Whether there are none for any lock. Safe for any thread. */
  boolean areNone() {
    return groups.isEmpty();
  }

  /** Somebody waits for the lock: how many should be made now. */
  int shortfall(String prefix, long nowNanos) {
    Group group = groups.get(prefix);
    if (group == null) {
      group = new Group();
      group.askedNanos = nowNanos;
      groups.put(prefix, group);
      return 0;
    }
    boolean again = nowNanos - group.askedNanos < LINGER_NANOS;
    group.askedNanos = nowNanos;
    return again && group.spares.size() < FEW ? AT_ONCE : 0;
  }

  void add(String prefix, String holder, WakeupChannel channel) {
    channel.spareOf = prefix;
    groups.computeIfAbsent(prefix, absent -> new Group()).spares.add(new Spare(holder, channel));
  }

  @Nullable Spare take(String prefix) {
    Group group = groups.get(prefix);
    Spare spare = group == null ? null : group.spares.poll();
    if (spare != null) {
      spare.channel().spareOf = null;
    }
    return spare;
  }

  /** These channels are not subscribed any more. */
  void drop(Collection<WakeupChannel> some) {
    for (WakeupChannel channel : some) {
      Group group = channel.spareOf == null ? null : groups.get(channel.spareOf);
      if (group != null) {
        group.spares.removeIf(spare -> spare.channel() == channel);
      }
    }
  }

  /** Forgets the locks for which nobody has waited for a while. */
  void forget(long nowNanos) {
    groups
        .values()
        .removeIf(group -> group.spares.isEmpty() && nowNanos - group.askedNanos >= LINGER_NANOS);
  }
}
