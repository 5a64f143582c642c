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
 * once. A batch is twice as large as the last one when a waiter has found none since, and as small
 * as the first one after ids of the lock were dropped: the threads that a run in the fair queue has
 * served ask again nearly at once, and each that finds none costs two commands more.
 *
 * <p><b>Threads.</b> The lock of {@link Subscriptions} guards everything; any thread may call
 * {@link #isEmpty} without it.
 */
final class ReservedChannels {
  /** The number of ids that are made in one command at first. */
  static final int FIRST_BATCH = 8;

  /** The largest number of ids that are made in one command. */
  static final int MAX_BATCH = 64;

  static final long LINGER_NANOS = 1_000_000_000L;

  /** The groups by the channel of an empty holder. */
  private final Map<String, Group> groups = new ConcurrentHashMap<>();

  /** The ids of one lock. */
  private static final class Group {
    final Deque<Reservation> reservations = new ArrayDeque<>();
    long lastWaitNanos;

    /** The number of ids in the last batch; 0 for none, and after ids were dropped. */
    int batch;

    /** Whether a waiter has found no id since the last batch. */
    boolean missed;

    /** Returns how many ids to make when fewer than half of the last batch are left. */
    int nextBatch() {
      batch = batch == 0 ? FIRST_BATCH : missed ? Math.min(2 * batch, MAX_BATCH) : batch;
      missed = false;
      return batch;
    }
  }

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
    boolean few = group.batch == 0 || group.reservations.size() < group.batch / 2;
    return again && few ? group.nextBatch() : 0;
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
    if (group == null) {
      return null;
    }
    Reservation reservation = group.reservations.poll();
    if (reservation == null) {
      group.missed = true;
    } else {
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
        group.batch = 0;
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
