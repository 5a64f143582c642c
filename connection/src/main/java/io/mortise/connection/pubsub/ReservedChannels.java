package io.mortise.connection.pubsub;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Holder ids of future acquisitions whose own channels are subscribed already. Where each waiter
 * has its own channel, it would have to subscribe that channel, wait for the confirmation, and try
 * again, each time; a waiter that takes one of these ids tries once, and parks.
 *
 * <p>They are made when a caller waits for a lock for the second time within {@link #LINGER_NANOS},
 * several in one command, and dropped when no waiter takes them within that time. An id is taken
 * once.
 *
 * <p><b>Threads.</b> The lock of {@link Subscriptions} guards everything; any thread may call
 * {@link #isEmpty} without it.
 */
final class ReservedChannels {
  /** The number of ids that are made in one command. */
  static final int BATCH_SIZE = 8;

  /** With fewer ids than that, more are made. */
  private static final int LOW_WATER_MARK = 4;

  static final long LINGER_NANOS = 1_000_000_000L;

  /** The groups by the channel of an empty holder. */
  private final Map<String, Group> groups = new ConcurrentHashMap<>();

  /** The ids of one lock. */
  private static final class Group {
    final Deque<Reservation> reservations = new ArrayDeque<>();
    long lastWaitNanos;
  }

  /** A holder id, and its channel. */
  record Reservation(String holder, WakeupChannel channel) {}

  /** Returns whether there is no id for any lock. Any thread may call it. */
  boolean isEmpty() {
    return groups.isEmpty();
  }

  /** Notes a waiter of the lock; returns how many ids to make now. */
  int shortfall(String prefix, long nowNanos) {
    Group group = groups.get(prefix);
    if (group == null) {
      group = new Group();
      group.lastWaitNanos = nowNanos;
      groups.put(prefix, group);
      return 0;
    }
    boolean again = nowNanos - group.lastWaitNanos < LINGER_NANOS;
    group.lastWaitNanos = nowNanos;
    return again && group.reservations.size() < LOW_WATER_MARK ? BATCH_SIZE : 0;
  }

  void add(String prefix, String holder, WakeupChannel channel) {
    channel.reservedFor = prefix;
    groups
        .computeIfAbsent(prefix, absent -> new Group())
        .reservations
        .add(new Reservation(holder, channel));
  }

  @Nullable Reservation take(String prefix) {
    Group group = groups.get(prefix);
    Reservation reservation = group == null ? null : group.reservations.poll();
    if (reservation != null) {
      reservation.channel().reservedFor = null;
    }
    return reservation;
  }

  /** Removes the ids of channels that are no longer subscribed. */
  void drop(Collection<WakeupChannel> channels) {
    for (WakeupChannel channel : channels) {
      Group group = channel.reservedFor == null ? null : groups.get(channel.reservedFor);
      if (group != null) {
        group.reservations.removeIf(reservation -> reservation.channel() == channel);
      }
    }
  }

  /** Removes the locks without ids that have had no waiter within {@link #LINGER_NANOS}. */
  void forget(long nowNanos) {
    groups
        .values()
        .removeIf(
            group ->
                group.reservations.isEmpty() && nowNanos - group.lastWaitNanos >= LINGER_NANOS);
  }
}
